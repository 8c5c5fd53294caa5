import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as vscode from 'vscode';
import { renameOver } from '../../assets/writeFile.ts';
import { LAUNCHED_FROM } from './launchedFrom.ts';

const LAUNCHER = 'assets-server.mjs';

type Context = Pick<vscode.ExtensionContext, 'globalStorageUri' | 'globalState' | 'extensionPath'>;

/** Writes the launcher of this version, and keeps in mind that there is one. */
export async function keepLauncher({
  globalStorageUri,
  globalState,
  extensionPath,
}: Context): Promise<string> {
  const path = await writeLauncher(globalStorageUri.fsPath, extensionPath);
  await globalState.update(LAUNCHED_FROM, extensionPath);
  return path;
}

/**
 * Writes a program that stays where it is whatever version of the extension is installed, and starts the server of
 * this one. Resolves to its path.
 */
export async function writeLauncher(folder: string, extension: string): Promise<string> {
  const path = join(folder, LAUNCHER);
  const text = launcherText(extension);
  const before = await readFile(path, 'utf8').catch(() => undefined);
  if (before === text) return path;
  await mkdir(folder, { recursive: true });
  // A client may start it at any moment, so that it is always a whole one.
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

/** How a folder is named in what is copied: many clients would take a `$` for the beginning of a variable. */
export function folderArgument(folder: string): string {
  return folder.includes('$') ? pathToFileURL(folder).href.replaceAll('$', '%24') : folder;
}

/** An update may come and go without the extension being used, so the launcher looks for its successor. */
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
