import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { isInside } from '../../assets/confined.ts';
import { withEnvFile } from '../../mcp/config/envFile.ts';
import type { InputDefinition } from '../../mcp/config/inputs.ts';
import { readServers, readServersFile } from '../../mcp/config/servers.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import { userServers } from '../settings.ts';

/** A server as somebody has configured it, with its env file in it. */
export interface ConfiguredServer {
  readonly name: string;
  readonly config: ServerConfig;
  /** The same as it is written there, for a person to read. */
  readonly written: ServerConfig;
  readonly source: 'user' | 'workspace';
  /** Where it is configured: the user's settings, or the address of a folder of the workspace. */
  readonly place: string;
  /** What the place says about inputs. */
  readonly inputs: ReadonlyMap<string, InputDefinition>;
  readonly envFile?: EnvFile;
  /** Why it cannot be started. */
  readonly problem?: string;
}

/** Where the variables of a server are, or would be read. */
export interface EnvFile {
  readonly path: string;
  /** The address of the folder of the workspace that decides about it. */
  readonly folder?: string | undefined;
}

/** Whether somebody has agreed that an env file outside of the workspace is read for a server of the workspace. */
export type MayRead = (server: ConfiguredServer) => boolean;

/** Told what could not be used, in sentences. */
export type Warn = (problem: string) => void;

export const USER_PLACE = 'user';
/** More is no list of variables, and reading it would only hold everybody up. */
const MAX_ENV_FILE_BYTES = 1024 * 1024;

export async function readUserServers(warn: Warn): Promise<readonly ConfiguredServer[]> {
  const folder = vscode.workspace.isTrusted ? vscode.workspace.workspaceFolders?.[0] : undefined;
  const context = { workspaceFolder: folder?.uri.fsPath, env: process.env };
  const { servers, written, problems } = readServers(userServers(), context);
  problems.forEach(warn);
  const place = { source: 'user', place: USER_PLACE, inputs: new Map<string, InputDefinition>() } as const;
  return Promise.all(
    [...servers].map(([name, config]) => {
      const server = { ...place, name, config, written: written.get(name) ?? config };
      return readEnvFile(server, { base: homedir(), mayRead: () => true, warn });
    }),
  );
}

/** Those of `.vscode/mcp.json`. Not even the file is read while the workspace is not trusted. */
export async function readWorkspaceServers(
  warn: Warn,
  mayRead: MayRead,
): Promise<readonly ConfiguredServer[]> {
  if (!vscode.workspace.isTrusted) return [];
  const folders = vscode.workspace.workspaceFolders ?? [];
  return (await Promise.all(folders.map((folder) => readFolder(folder, warn, mayRead)))).flat();
}

/** Calls back whenever the servers may be others than before. */
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
  warn: Warn,
  mayRead: MayRead,
): Promise<readonly ConfiguredServer[]> {
  const file = vscode.Uri.joinPath(folder.uri, '.vscode', 'mcp.json');
  const text = await readIfThere(file, warn);
  if (text === undefined) return [];
  const root = folder.uri.fsPath;
  const read = readServersFile(text, { workspaceFolder: root, env: process.env });
  for (const problem of read.problems) warn(`${file.fsPath}: ${problem}`);
  const place = { source: 'workspace', place: folder.uri.toString(), inputs: read.inputs } as const;
  return Promise.all(
    [...read.servers].map(([name, own]) => {
      const config = startedIn(root, own);
      const written = startedIn(root, read.written.get(name) ?? own);
      return readEnvFile({ ...place, name, config, written }, { base: root, mayRead, warn });
    }),
  );
}

interface Reading {
  /** What the path of an env file starts from. */
  readonly base: string;
  readonly mayRead: MayRead;
  readonly warn: Warn;
}

/** One whose env file cannot be read stays in the list, so that whoever uses it is told why it does not start. */
async function readEnvFile(
  server: ConfiguredServer,
  { base, mayRead, warn }: Reading,
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
    const problem = (error as Error).message;
    warn(`MCP server "${server.name}" cannot be started. ${problem}`);
    return { ...located, problem };
  }
}

/**
 * The workspace decides about a file of the user's choice that is inside of it by its path or in truth. A file of
 * the workspace's choice must be both: a link may lead out of it. Elsewhere nothing is touched for a workspace, since
 * even to look at a path may reach another machine.
 */
async function locate(path: string, source: ConfiguredServer['source']): Promise<EnvFile> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const named = folders.find(({ uri }) => isInside(uri.fsPath, path));
  if (source === 'workspace' && named === undefined) return { path };
  // What is not there is told by whoever reads it.
  const real = await realpath(path).catch(() => path);
  if (real === path && named !== undefined) return { path, folder: named.uri.toString() };
  const roots = await Promise.all(folders.map(({ uri }) => realpath(uri.fsPath).catch(() => uri.fsPath)));
  const actual = folders.find((_folder, at) => isInside(roots[at] ?? '', real));
  const folder = source === 'user' ? (named ?? actual) : actual;
  return { path: real, folder: folder?.uri.toString() };
}

/** Devices and pipes, which may never end, are no files. */
async function readSmallFile(file: vscode.Uri): Promise<string> {
  const { type, size } = await vscode.workspace.fs.stat(file).then(undefined, (error: unknown) => {
    throw isMissing(error) ? new Error('there is no such file') : error;
  });
  if ((type & vscode.FileType.File) === 0) throw new Error('it is not a file');
  if (size > MAX_ENV_FILE_BYTES) throw new Error(`it has more than ${MAX_ENV_FILE_BYTES} bytes`);
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
}

async function readIfThere(file: vscode.Uri, warn: Warn): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  } catch (error) {
    if (!isMissing(error)) warn(`${file.fsPath} could not be read: ${(error as Error).message}`);
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
}

/** As VS Code's own MCP client has it: programs of a workspace start in the workspace. */
function startedIn(cwd: string, config: ServerConfig): ServerConfig {
  return config.kind === 'stdio' && config.cwd === undefined ? { ...config, cwd } : config;
}
