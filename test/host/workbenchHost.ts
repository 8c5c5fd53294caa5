/** The npm-delivered workbench with the packed extension, in a page of its own. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { installBrowser } from './browser.ts';
import { createBrowserProfile } from './browserProfile.ts';
import { linkInstalled, linkNeededBuiltins } from './installed.ts';
import { launchBrowser, seenByBrowser } from './page.ts';
import { createTemporaryFolder } from './process.ts';
import { type Settings, startServer, type VscodeServer } from './server.ts';
import { installWorkbench } from './workbench.ts';

export interface WorkbenchHost extends AsyncDisposable {
  readonly server: VscodeServer;
  /** Blank as yet. */
  readonly page: Page;
}

export interface WorkbenchHostOptions {
  /** What is installed, if anything is. */
  readonly vsix?: string | undefined;
  readonly settings?: Settings;
  /** Only the built-in extensions that chats need, for a quicker start. */
  readonly lean?: boolean;
  /** For the extension host. */
  readonly env: Readonly<Record<string, string>>;
}

/** Installs what is missing, then starts server and browser. Disposing it leaves nothing behind. */
export async function startWorkbenchHost(options: WorkbenchHostOptions): Promise<WorkbenchHost> {
  const workbench = await installWorkbench();
  const chromium = await installBrowser();
  await using started = new AsyncDisposableStack();
  const data = started.adopt(createTemporaryFolder('data'), (folder) => folder.dispose());
  if (options.vsix) await linkInstalled(workbench, data.path, options.vsix);
  const builtins = options.lean ? linkNeededBuiltins(workbench, join(data.path, 'builtins')) : undefined;
  const server = started.use(await startServer({ ...options, builtins, workbench, dataFolder: data.path }));
  const profile = started.adopt(createBrowserProfile(chromium, workbench), (folder) => folder.dispose());
  started.defer(() => profile.keepCaches());
  const browser = await launchBrowser(chromium, profile.path, server);
  started.defer(() => browser.close());
  const page = browser.pages()[0] ?? (await browser.newPage());
  const owned = started.move();
  return { server: seenByBrowser(server), page, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
