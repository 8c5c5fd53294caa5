import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { isInside } from '../../assets/confined.ts';
import { messageOf } from '../../base/errors.ts';
import { withEnvFile } from '../../mcp/config/envFile.ts';
import type { InputDefinition } from '../../mcp/config/inputs.ts';
import { withServerNames } from '../../mcp/config/profile.ts';
import { readServers, readServersFile } from '../../mcp/config/readServers.ts';
import { type ServerConfig, startedIn } from '../../mcp/config/types.ts';
import { isMissing, readText } from '../chat/chatFiles.ts';
import { userServers, usesEditorServers } from '../settings.ts';

export interface ConfiguredServer {
  readonly name: string;
  /** With variables expanded and the env file read. */
  readonly config: ServerConfig;
  /** As it is written, to show to the user. */
  readonly written: ServerConfig;
  readonly source: 'user' | 'profile' | 'workspace';
  /** `USER_PLACE`, `PROFILE_PLACE` and the URI of a file, or the URI of the workspace folder. */
  readonly place: string;
  readonly inputs: ReadonlyMap<string, InputDefinition>;
  readonly envFile?: EnvFile;
  readonly problem?: string;
}

interface EnvFile {
  readonly path: string;
  /** The URI of the workspace folder that controls the file. */
  readonly folder?: string | undefined;
}

export interface Reading {
  readonly warn: (problem: string) => void;
  /** Whether the user allowed a workspace server to read its env file outside of the workspace. */
  readonly mayRead: (server: ConfiguredServer) => boolean;
  readonly profileFile: () => Promise<vscode.Uri>;
}

export const USER_PLACE = 'user';
export const PROFILE_PLACE = 'profile:';
const MAX_ENV_FILE_BYTES = 1024 * 1024;

/**
 * Servers of the user come last, so that those of a workspace cannot replace them. `.vscode/mcp.json` is not read in an
 * untrusted workspace.
 */
export async function readConfiguredServers(reading: Reading): Promise<readonly ConfiguredServer[]> {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const lists = [
    ...folders.map((each) => readFolder(each, reading)),
    usesEditorServers() ? readProfileServers(reading) : [],
    readUserServers(folders[0], reading),
  ];
  return (await Promise.all(lists)).flat();
}

/** The servers of VS Code's profile, whether they are used or not. */
export async function readProfileServers(reading: Reading): Promise<readonly ConfiguredServer[]> {
  const file = await reading.profileFile();
  const text = await readIfThere(file, reading.warn);
  if (text === undefined) return [];
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const context = { workspaceFolder: folder?.uri.fsPath, env: process.env };
  const { servers, written, inputs, problems } = readServersFile(withServerNames(text), context);
  for (const problem of problems) reading.warn(`${file.fsPath}: ${problem}`);
  const place = { source: 'profile', place: `${PROFILE_PLACE}${file}`, inputs } as const;
  return readOwn({ place, servers, written }, reading);
}

async function readUserServers(
  folder: vscode.WorkspaceFolder | undefined,
  reading: Reading,
): Promise<readonly ConfiguredServer[]> {
  const context = { workspaceFolder: folder?.uri.fsPath, env: process.env };
  const { servers, written, problems } = readServers(userServers(), context);
  problems.forEach(reading.warn);
  const place = { source: 'user', place: USER_PLACE, inputs: new Map<string, InputDefinition>() } as const;
  return readOwn({ place, servers, written }, reading);
}

interface OwnServers extends Pick<ReturnType<typeof readServers>, 'servers' | 'written'> {
  readonly place: Pick<ConfiguredServer, 'source' | 'place' | 'inputs'>;
}

function readOwn(
  { place, servers, written }: OwnServers,
  reading: Reading,
): Promise<readonly ConfiguredServer[]> {
  return Promise.all(
    [...servers].map(([name, config]) => {
      const server = { ...place, name, config, written: written.get(name) ?? config };
      return readEnvFile(server, homedir(), { ...reading, mayRead: () => true });
    }),
  );
}

export function watchServerSettings(onChange: () => void): vscode.Disposable {
  const files = vscode.workspace.createFileSystemWatcher('**/.vscode/mcp.json');
  return vscode.Disposable.from(
    files,
    files.onDidCreate(onChange),
    files.onDidChange(onChange),
    files.onDidDelete(onChange),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('filechat.mcpServers')) onChange();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(onChange),
    vscode.workspace.onDidGrantWorkspaceTrust(onChange),
  );
}

async function readFolder(
  folder: vscode.WorkspaceFolder,
  reading: Reading,
): Promise<readonly ConfiguredServer[]> {
  const file = vscode.Uri.joinPath(folder.uri, '.vscode', 'mcp.json');
  const text = await readIfThere(file, reading.warn);
  if (text === undefined) return [];
  const root = folder.uri.fsPath;
  const read = readServersFile(text, { workspaceFolder: root, env: process.env });
  for (const problem of read.problems) reading.warn(`${file.fsPath}: ${problem}`);
  const place = { source: 'workspace', place: folder.uri.toString(), inputs: read.inputs } as const;
  return Promise.all(
    [...read.servers].map(([name, own]) => {
      const config = startedIn(root, own);
      const written = startedIn(root, read.written.get(name) ?? own);
      return readEnvFile({ ...place, name, config, written }, root, reading);
    }),
  );
}

/** A server whose env file cannot be read stays in the list, with the reason in `problem`. */
async function readEnvFile(
  server: ConfiguredServer,
  base: string,
  { mayRead, warn }: Reading,
): Promise<ConfiguredServer> {
  const { config, written, source } = server;
  if (config.kind !== 'stdio' || config.envFile === undefined) return server;
  const envFile = await locate(resolve(base, config.envFile), source);
  const located: ConfiguredServer = { ...server, envFile };
  if (envFile.folder === undefined && !mayRead(located)) return located;
  try {
    const read = await withEnvFile(config, () => readSmallFile(vscode.Uri.file(envFile.path)), warn);
    const { fileVariables } = read.kind === 'stdio' ? read : {};
    return { ...located, config: read, written: { ...written, ...(fileVariables && { fileVariables }) } };
  } catch (error) {
    const problem = messageOf(error);
    warn(`MCP server “${server.name}” cannot be started. ${problem}`);
    return { ...located, problem };
  }
}

/**
 * Finds the workspace folder that controls an env file. A file named in user settings is controlled if its path or its
 * real path is inside a folder. A file named by a workspace must have both inside, because a symbolic link may lead
 * out. A path outside that a workspace names is not accessed at all: even `realpath` may contact another machine.
 */
async function locate(path: string, source: ConfiguredServer['source']): Promise<EnvFile> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const named = folders.find(({ uri }) => isInside(uri.fsPath, path));
  if (source === 'workspace' && named === undefined) return { path };
  // A missing file is reported when it is read.
  const real = await realpath(path).catch(() => path);
  if (real === path && named !== undefined) return { path, folder: named.uri.toString() };
  const roots = await Promise.all(folders.map(({ uri }) => realpath(uri.fsPath).catch(() => uri.fsPath)));
  const actual = folders.find((_folder, index) => isInside(roots[index] ?? '', real));
  const folder = source === 'workspace' ? actual : (named ?? actual);
  return { path: real, folder: folder?.uri.toString() };
}

/** Rejects devices and pipes, which may never end. */
async function readSmallFile(file: vscode.Uri): Promise<string> {
  const { type, size } = await vscode.workspace.fs.stat(file).then(undefined, (error: unknown) => {
    throw isMissing(error) ? new Error('there is no such file') : error;
  });
  if ((type & vscode.FileType.File) === 0) throw new Error('it is not a file');
  if (size > MAX_ENV_FILE_BYTES) throw new Error(`it has more than ${MAX_ENV_FILE_BYTES} bytes`);
  return readText(file);
}

async function readIfThere(file: vscode.Uri, warn: Reading['warn']): Promise<string | undefined> {
  try {
    return await readText(file);
  } catch (error) {
    if (!isMissing(error)) warn(`${file.fsPath} could not be read: ${messageOf(error)}`);
    return undefined;
  }
}
