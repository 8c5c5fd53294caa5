/** The VS Code server of the npm-delivered workbench. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type RunningProcess, runProcess, startProcess, waitFor } from '../process.ts';
import type { Workbench } from './workbench.ts';

const readyTimeoutMs = 60_000;
const installTimeoutMs = 60_000;

export type Settings = Readonly<Record<string, unknown>>;

export interface ServerOptions {
  readonly workbench: Workbench;
  /** Holds the user's settings, the extensions and the logs. */
  readonly dataFolder: string;
  /** Reaches the extension host, which the server starts. */
  readonly env?: Readonly<Record<string, string>>;
  /** A folder of built-in extensions to use instead of all of them. */
  readonly builtins?: string | undefined;
  /** Any free one unless it is named. */
  readonly port?: number | undefined;
}

export interface ServerAddress {
  /** Without a slash at its end. */
  readonly url: string;
  /** What follows `vscode-remote://` in the URIs of its files. */
  readonly authority: string;
}

export interface VscodeServer extends ServerAddress, AsyncDisposable {
  readonly exited: RunningProcess['exited'];
}

/** Resolves when the server answers. */
export async function startServer(options: ServerOptions): Promise<VscodeServer> {
  const port = options.port ?? (await findFreePort());
  const running = startProcess(options.workbench.node, serverArguments(options, port), {
    env: { ...serverEnvironment, ...options.env },
  });
  const authority = `127.0.0.1:${port}`;
  const url = `http://${authority}`;
  try {
    await waitUntilReady(url, running);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { url, authority, exited: running.exited, [Symbol.asyncDispose]: () => running.stop() };
}

/** Installs a packed extension for the servers that use this data folder. */
export async function installVsix(workbench: Workbench, dataFolder: string, vsix: string): Promise<void> {
  await runProcess(
    workbench.node,
    [workbench.serverMain, ...folderArguments(dataFolder), '--install-extension', vsix, '--force'],
    { env: serverEnvironment, timeoutMs: installTimeoutMs },
  );
}

/** Writes the user settings of a profile; `userDataFolder` is what `--user-data-dir` would name. */
export function writeSettings(userDataFolder: string, settings: Settings): void {
  const folder = join(userDataFolder, 'User');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'settings.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
}

/** Nothing that asks, moves, phones home or types along. */
export const quietSettings: Settings = {
  'security.workspace.trust.enabled': false,
  'workbench.startupEditor': 'none',
  // Named, because VS Code keeps the theme of the last file of tests when the setting is only removed.
  'workbench.colorTheme': 'Default Dark Modern',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.editor.enablePreview': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.reduceMotion': 'on',
  'window.menuBarVisibility': 'classic',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  // Every extension here runs in the server's host; a second one in the browser only costs its start.
  'extensions.webWorker': false,
  'git.enabled': false,
  'files.autoSave': 'off',
  'editor.minimap.enabled': false,
  'editor.cursorBlinking': 'solid',
  'editor.autoClosingBrackets': 'never',
  'editor.autoIndent': 'none',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.suggestOnTriggerCharacters': false,
};

/** An empty gallery keeps the workbench from asking the marketplace. */
const serverEnvironment = { EXTENSIONS_GALLERY: '{}' };

function serverArguments({ workbench, dataFolder, builtins }: ServerOptions, port: number): string[] {
  return [
    workbench.serverMain,
    ...['--host', '127.0.0.1', '--port', String(port), '--without-connection-token'],
    ...folderArguments(dataFolder),
    ...(builtins ? ['--builtin-extensions-dir', builtins] : []),
    ...['--telemetry-level', 'off'],
    // A closed page is not coming back, so its extension host need not wait for it.
    ...['--reconnection-grace-time', '1'],
  ];
}

function folderArguments(dataFolder: string): string[] {
  const extensions = join(dataFolder, 'extensions');
  return ['--server-data-dir', dataFolder, '--extensions-dir', extensions, '--accept-server-license-terms'];
}

async function waitUntilReady(url: string, running: RunningProcess): Promise<void> {
  let end: unknown;
  const remember = (value: unknown) => {
    end = value;
  };
  void running.exited.then(remember, remember);
  await waitFor('the VS Code server', readyTimeoutMs, async () => {
    if (end !== undefined) throw new Error(`The VS Code server ended at once: ${end}\n${running.output()}`);
    return (await answers(`${url}/version`)) || undefined;
  });
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

async function findFreePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer().once('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
  });
  return promise;
}
