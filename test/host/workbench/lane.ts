/**
 * A VS Code server and a browser that serve one window after the other. Starting them costs more than most test
 * files, so the runner starts two lanes and every file of UI tests claims one (`lanes.ts`).
 */
import { join } from 'node:path';
import { createTemporaryFolder } from '../process.ts';
import { installBrowser, startBrowser } from './browser.ts';
import { createBrowserProfile } from './browserProfile.ts';
import { linkNeededBuiltins } from './installed.ts';
import { type ServerAddress, startServer } from './server.ts';
import { installWorkbench, type Workbench } from './workbench.ts';

/** Everything that another process needs to open a window in this lane. */
export interface Lane {
  readonly workbench: Workbench;
  /** How the lane's browser reaches the server. */
  readonly server: ServerAddress;
  /** Holds the user's settings, the extensions, the logs, and the sockets of the bridges into extension hosts. */
  readonly dataFolder: string;
  /** Where the browser takes DevTools connections. */
  readonly browser: string;
}

export interface LaneOptions {
  /** Loads all built-in extensions, not only those that chats need. */
  readonly allBuiltins?: boolean;
  /** For the extension hosts. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One address for every server, because the browser caches compiled scripts by their address. */
const sharedAuthority = '127.0.0.1:8910';

/** Installs what is missing, then starts the server and the browser. Disposing it leaves nothing behind. */
export async function startLane({ allBuiltins, env }: LaneOptions = {}): Promise<Lane & AsyncDisposable> {
  const [workbench, chromium] = await Promise.all([installWorkbench(), installBrowser()]);
  await using started = new AsyncDisposableStack();
  const data = started.adopt(createTemporaryFolder('data'), (folder) => folder.dispose());
  const builtins = allBuiltins ? undefined : linkNeededBuiltins(workbench, join(data.path, 'builtins'));
  const server = started.use(
    await startServer({
      workbench,
      dataFolder: data.path,
      builtins,
      env: { ...env, FILECHAT_BRIDGES: data.path },
    }),
  );
  const profile = started.adopt(createBrowserProfile(chromium, workbench), (folder) => folder.dispose());
  started.defer(() => profile.keepCaches());
  const browser = started.use(
    await startBrowser(chromium, profile.path, `MAP ${sharedAuthority} ${server.authority}`),
  );
  const owned = started.move();
  return {
    workbench,
    server: { authority: sharedAuthority, url: `http://${sharedAuthority}` },
    dataFolder: data.path,
    browser: browser.url,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
