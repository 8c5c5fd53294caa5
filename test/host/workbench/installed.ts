/** What a data folder of the server starts with: the packed extension, and the built-in ones that chats need. */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { installVsix } from './server.ts';
import type { Workbench } from './workbench.ts';

const prefix = '.installed-';

/**
 * Installs the packed extension once, beside it: installing starts a VS Code of its own. A data folder has its own list
 * of what is installed, and links to the one copy, so that Node finds its scripts compiled.
 */
export async function linkInstalled(workbench: Workbench, dataFolder: string, vsix: string): Promise<void> {
  const hash = createHash('sha256').update(readFileSync(vsix)).digest('hex').slice(0, 16);
  const installed = join(dirname(resolve(vsix)), `${prefix}${hash}`);
  if (!existsSync(installed)) await installBeside(workbench, installed, vsix);
  const [from, to] = [join(installed, 'extensions'), join(dataFolder, 'extensions')];
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [here, there] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) symlinkSync(here, there, 'junction');
    else copyFileSync(here, there);
  }
}

async function installBeside(workbench: Workbench, installed: string, vsix: string): Promise<void> {
  // What begins with its name is this one, finished or not: another process may be at it.
  for (const name of readdirSync(dirname(installed)))
    if (name.startsWith(prefix) && !name.startsWith(basename(installed)))
      rmSync(join(dirname(installed), name), { recursive: true, force: true });
  const unfinished = `${installed}.tmp-${process.pid}`;
  await installVsix(workbench, unfinished, vsix);
  try {
    renameSync(unfinished, installed);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another run may have been quicker; its install is as good as ours.
    if (!existsSync(installed)) throw error;
  }
}

/** Languages and debuggers of VS Code take a second to read and play no part in a chat. */
const NEEDED = ['json', 'markdown-basics', 'theme-defaults', 'theme-modern-icons', 'theme-seti', 'yaml'];

/** Fills a folder with links to the built-in extensions that chats need, for `--builtin-extensions-dir`. */
export function linkNeededBuiltins(workbench: Workbench, folder: string): string {
  const all = join(dirname(workbench.serverMain), '..', 'extensions');
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(all).filter((each) => NEEDED.includes(each) || runsInBrowser(all, each)))
    symlinkSync(join(all, name), join(folder, name), 'junction');
  return folder;
}

/** Those the page starts by itself, and says so in everybody's way when it does not find them. */
function runsInBrowser(all: string, name: string): boolean {
  const manifest = join(all, name, 'package.json');
  return existsSync(manifest) && 'browser' in JSON.parse(readFileSync(manifest, 'utf8'));
}
