/**
 * Opens a VS Code with the packed extension and the samples: the desktop's `code`, else a downloaded
 * one, else the npm-delivered workbench in a browser. `npm start` packs the extension first.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { resolveCliPathFromVSCodeExecutablePath } from '@vscode/test-electron';
import { chooseVscode, hasDisplay } from '../test/host/desktop.ts';
import { desktopProfileArguments } from '../test/host/desktopSuite.ts';
import { createTemporaryFolder, runProcess, startProcess } from '../test/host/process.ts';
import { workbenchUrl } from '../test/host/workbench/page.ts';
import { installVsix, type Settings, startServer, writeSettings } from '../test/host/workbench/server.ts';
import { installWorkbench } from '../test/host/workbench/workbench.ts';

const folder = import.meta.dirname;
const file = join(folder, 'tour.chat.md');
const vsix = join(folder, '..', 'dist', 'filechat.vsix');
const cliTimeoutMs = 60_000;

/** Everything else has VS Code's default, so that this shows what users see. */
const settings: Settings = {
  // The samples belong to the project whose code is running already. In Restricted Mode their calls are refused.
  'security.workspace.trust.enabled': false,
  // VS Code would announce every port that a server opens.
  'remote.autoForwardPorts': false,
};

const { values: options } = parseArgs({
  options: {
    /** For the workbench in the browser; any free port unless it is named. */
    port: { type: 'string' },
    /** Ends when VS Code is seen to work. */
    once: { type: 'boolean', default: false },
  },
});

if (!existsSync(vsix)) throw new Error(`${vsix} is missing. Run “npm start”, which packs it first.`);
process.once('SIGINT', () => process.exit(0));
const cli = await findDesktopCli();
await (cli ? openDesktop(cli) : openWorkbench());

async function findDesktopCli(): Promise<string | undefined> {
  const installed = hasDisplay() && process.env['FILECHAT_HOST'] === undefined ? findCodeOnPath() : undefined;
  if (installed) return installed;
  const vscode = await chooseVscode();
  return vscode.kind === 'desktop' ? resolveCliPathFromVSCodeExecutablePath(vscode.executable) : undefined;
}

function findCodeOnPath(): string | undefined {
  const name = process.platform === 'win32' ? 'code.cmd' : 'code';
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name));
  return paths.find((path) => existsSync(path));
}

async function openDesktop(code: string): Promise<void> {
  // The window outlives an interrupted start, so the profile goes only when the window has closed.
  const profile = mkdtempSync(join(tmpdir(), 'filechat-start-'));
  const profileArguments = desktopProfileArguments(profile);
  writeSettings(join(profile, 'user'), settings);
  const install = [...profileArguments, '--install-extension', vsix, '--force'];
  await runProcess(code, install, { timeoutMs: cliTimeoutMs });
  if (options.once) {
    const list = await runProcess(code, [...profileArguments, '--list-extensions'], {
      timeoutMs: cliTimeoutMs,
    });
    if (!list.includes('filechat.filechat'))
      throw new Error(`VS Code did not install the extension: ${list}`);
    console.log(`Installed the extension with ${code}.`);
  } else {
    console.log('Opening VS Code with the sample chats. Close its window to stop.');
    await startProcess(code, [...profileArguments, '--new-window', '--wait', folder, file]).exited;
  }
  rmSync(profile, { recursive: true, force: true });
}

async function openWorkbench(): Promise<void> {
  const workbench = await installWorkbench();
  await using cleanup = new AsyncDisposableStack();
  const data = cleanup.adopt(createTemporaryFolder('start'), (created) => created.dispose());
  await installVsix(workbench, data.path, vsix);
  const port = options.port === undefined ? undefined : Number(options.port);
  writeSettings(join(data.path, 'data'), settings);
  const server = cleanup.use(await startServer({ workbench, dataFolder: data.path, port }));
  const url = workbenchUrl(server, { folder, file });
  console.log(`Open ${url}`);
  if (options.once) return;
  console.log('Press Ctrl+C to stop.');
  if (hasDisplay()) openInBrowser(url);
  await server.exited;
}

function openInBrowser(url: string): void {
  const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
    darwin: ['open'],
    win32: ['rundll32.exe', 'url.dll,FileProtocolHandler'],
  };
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  startProcess(program, [...args, url]);
}
