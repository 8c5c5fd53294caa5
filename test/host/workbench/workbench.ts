/**
 * What a host needs on this machine: a VS Code that npm delivers, and a browser to show it.
 * The npm package code-server carries a whole VS Code: its server, its web workbench and its extension host.
 * Its own install script wants headers and a Node that few machines have, so its steps are done here.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { isAlive, runProcess } from '../process.ts';
import { say, timed } from '../progress.ts';

const codeServerVersion = '4.139.1';
const nodeVersion = '24';
const npmTimeoutMs = 15 * 60_000;

export interface Workbench {
  /** The Node that the server was built for. */
  readonly node: string;
  /** The server's entry point. */
  readonly serverMain: string;
}

/** Outside the checkout, so that a fresh clone starts as quickly as an old one. */
export function cacheFolder(): string {
  const root = process.env['FILECHAT_CACHE'] || process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'filechat');
}

/** Resolves to the workbench in the cache, which it fills first when it has to. */
export async function installWorkbench(): Promise<Workbench> {
  const folder = join(cacheFolder(), `workbench-${codeServerVersion}`);
  await installOnce(folder, `VS Code (code-server ${codeServerVersion})`, installPackages);
  return workbenchIn(folder);
}

function workbenchIn(folder: string): Workbench {
  return {
    node: nodeIn(folder),
    serverMain: join(vscodeFolder(folder), 'out', 'server-main.js'),
  };
}

/** Fills a folder of the cache. It gets its name when it is whole, so that a killed install is done again. */
export async function installOnce(
  folder: string,
  what: string,
  install: (unfinished: string) => Promise<void>,
): Promise<void> {
  if (existsSync(folder)) return;
  say(`Installing ${what} from npm into ${folder}; this happens once.`);
  await removeAbandonedInstalls(folder);
  const unfinished = `${folder}.tmp-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await timed(`${what} is installed`, () => install(unfinished));
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another run may have been quicker; its install is as good as ours.
    if (!existsSync(folder)) throw error;
  }
}

async function installPackages(folder: string): Promise<void> {
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  await timed('  packages', () =>
    npm(folder, folder, [
      ...install,
      `${nodePackageName()}@${nodeVersion}`,
      `code-server@${codeServerVersion}`,
    ]),
  );
  const vscode = vscodeFolder(folder);
  await timed('  dependencies of the server', () => npm(folder, vscode, [...install, '--omit=dev']));
  await timed('  dependencies of its extensions', () =>
    npm(folder, join(vscode, 'extensions'), [...install, '--omit=dev']),
  );
  await timed('  native modules', () => buildNativeModules(folder, vscode));
}

/** Without them VS Code runs all the same, but its logs and output channels stay empty. */
async function buildNativeModules(folder: string, vscode: string): Promise<void> {
  try {
    await npm(folder, vscode, ['rebuild', '@vscode/spdlog', '@vscode/native-watchdog']);
  } catch (error) {
    say(`  Warning: without a C++ compiler, make and Python, output channels stay empty. ${error}`);
  }
}

async function npm(folder: string, cwd: string, args: readonly string[]): Promise<void> {
  const nodeFolder = nodePackage(folder);
  const env = {
    // npm and the scripts it starts run on the Node that the server will run on, once that is there.
    PATH: [join(nodeFolder, 'bin'), process.env['PATH']].join(delimiter),
    // The headers come with the package; node-gyp would download them.
    npm_config_nodedir: nodeFolder,
    npm_config_update_notifier: 'false',
    // node-gyp compiles one file at a time unless it is told otherwise.
    JOBS: 'max',
  };
  await runProcess('npm', args, { cwd, env, timeoutMs: npmTimeoutMs });
}

async function removeAbandonedInstalls(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.tmp-`;
  const names = await readdir(dirname(folder)).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length)))) continue;
    await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

export function nodePackageName(): string {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${system}-${process.arch}`;
}

function nodePackage(folder: string): string {
  return join(folder, 'node_modules', nodePackageName());
}

/** The program of the Node package that is installed in a folder. */
export function nodeIn(folder: string): string {
  return join(nodePackage(folder), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

function vscodeFolder(folder: string): string {
  return join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
}
