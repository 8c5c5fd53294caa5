import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as vscode from 'vscode';
import { renameOver } from '../../assets/writeFile.ts';

const LAUNCHER = 'assets-server.mjs';

/** The key of the extension folder from which the launcher starts the server; unset if there is no launcher. */
export const LAUNCHED_FROM = 'assetsServer.launchedFrom';

type Context = Pick<vscode.ExtensionContext, 'globalStorageUri' | 'globalState' | 'extensionPath'>;

export async function installLauncher({
  globalStorageUri,
  globalState,
  extensionPath,
}: Context): Promise<string> {
  const path = await writeLauncher(globalStorageUri.fsPath, extensionPath);
  await globalState.update(LAUNCHED_FROM, extensionPath);
  return path;
}

/** Writes a program whose path is the same for all versions of the extension. It starts the server of this version. */
export async function writeLauncher(folder: string, extension: string): Promise<string> {
  const path = join(folder, LAUNCHER);
  const text = launcherText(extension);
  const before = await readFile(path, 'utf8').catch(() => undefined);
  if (before === text) return path;
  await mkdir(folder, { recursive: true });
  // Replaced atomically, because a client may start it at any time.
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await renameOver(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return path;
}

/** Many clients expand variables, so a folder with a `$` is given as a file: URL. */
export function folderArgument(folder: string): string {
  return folder.includes('$') ? pathToFileURL(folder).href.replaceAll('$', '%24') : folder;
}

/** The launcher searches for a newer version, because an update does not run the extension. */
function launcherText(extension: string): string {
  const server = pathToFileURL(join(extension, 'dist', 'assets-server.js')).href;
  return `// Filechat writes this file, and writes it again after an update: what is changed here is lost.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const known = new URL(${JSON.stringify(server)});

function findServer() {
  if (existsSync(known)) return known;
  const extensions = new URL('../../', known);
  if (!existsSync(extensions)) return undefined;
  return readdirSync(extensions)
    .filter((name) => name.startsWith('filechat.filechat-'))
    .map((name) => new URL(\`\${encodeURIComponent(name)}/dist/assets-server.js\`, extensions))
    .filter((server) => existsSync(server))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

const server = findServer();
if (server) {
  const words = process.argv.slice(2);
  process.argv.splice(2, words.length, ...words.map((word) => (word.startsWith('file:') ? fileURLToPath(word) : word)));
  await import(server.href);
} else {
  console.error('Filechat is no longer where it was. Install it, or copy its MCP configuration again.');
  process.exitCode = 1;
}
`;
}
