import { homedir } from 'node:os';
import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { readServers, readServersFile, type ServerConfig } from '../mcp/config.ts';
import { withEnvFile } from '../mcp/envFile.ts';
import type { InputDefinition } from '../mcp/inputs.ts';
import { userServers } from './settings.ts';

/** A server as somebody has configured it, with its env file in it. */
export interface ConfiguredServer {
  readonly name: string;
  readonly config: ServerConfig;
  readonly source: 'user' | 'workspace';
  /** Where it is configured: the user's settings, or the address of a folder of the workspace. */
  readonly place: string;
  /** What the place says about inputs. */
  readonly inputs: ReadonlyMap<string, InputDefinition>;
  /** Why it cannot be started. */
  readonly problem?: string;
}

/** Told what could not be used, in sentences. */
export type Warn = (problem: string) => void;

export const USER_PLACE = 'user';
/** More is no list of variables, and reading it would only hold everybody up. */
const MAX_ENV_FILE_BYTES = 1024 * 1024;

export async function readUserServers(warn: Warn): Promise<readonly ConfiguredServer[]> {
  const folder = vscode.workspace.isTrusted ? vscode.workspace.workspaceFolders?.[0] : undefined;
  const context = { workspaceFolder: folder?.uri.fsPath, env: process.env };
  const { servers, problems } = readServers(userServers(), context);
  problems.forEach(warn);
  const place = { source: 'user', place: USER_PLACE, inputs: new Map<string, InputDefinition>() } as const;
  return Promise.all(
    [...servers].map(([name, config]) => readEnvFile({ ...place, name, config }, homedir(), warn)),
  );
}

/** Those of `.vscode/mcp.json`. Not even the file is read while the workspace is not trusted. */
export async function readWorkspaceServers(warn: Warn): Promise<readonly ConfiguredServer[]> {
  if (!vscode.workspace.isTrusted) return [];
  const folders = vscode.workspace.workspaceFolders ?? [];
  return (await Promise.all(folders.map((folder) => readFolder(folder, warn)))).flat();
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

async function readFolder(folder: vscode.WorkspaceFolder, warn: Warn): Promise<readonly ConfiguredServer[]> {
  const file = vscode.Uri.joinPath(folder.uri, '.vscode', 'mcp.json');
  const text = await readIfThere(file, warn);
  if (text === undefined) return [];
  const root = folder.uri.fsPath;
  const { servers, inputs, problems } = readServersFile(text, { workspaceFolder: root, env: process.env });
  for (const problem of problems) warn(`${file.fsPath}: ${problem}`);
  const place = { source: 'workspace', place: folder.uri.toString(), inputs } as const;
  return Promise.all(
    [...servers].map(([name, config]) =>
      readEnvFile({ ...place, name, config: startedIn(root, config) }, root, warn),
    ),
  );
}

/** One whose env file cannot be read stays in the list, so that whoever uses it is told why it does not start. */
async function readEnvFile(server: ConfiguredServer, base: string, warn: Warn): Promise<ConfiguredServer> {
  const read = (path: string) => readSmallFile(vscode.Uri.file(resolve(base, path)));
  try {
    return { ...server, config: await withEnvFile(server.config, read, warn) };
  } catch (error) {
    const problem = (error as Error).message;
    warn(`MCP server "${server.name}" cannot be started. ${problem}`);
    return { ...server, problem };
  }
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
