/** The npm-delivered workbench with the packed extension, in a page of its own. */
import type { Page } from 'playwright-core';
import { installBrowser } from './browser.ts';
import { launchBrowser } from './page.ts';
import { createTemporaryFolder } from './process.ts';
import { installVsix, type Settings, startServer, type VscodeServer } from './server.ts';
import { installWorkbench } from './workbench.ts';

export interface WorkbenchHost extends AsyncDisposable {
  readonly server: VscodeServer;
  /** Blank as yet. */
  readonly page: Page;
}

export interface WorkbenchHostOptions {
  readonly vsix: string;
  readonly settings?: Settings;
  /** For the extension host. */
  readonly env: Readonly<Record<string, string>>;
}

/** Installs what is missing, then starts server and browser. Disposing it leaves nothing behind. */
export async function startWorkbenchHost(options: WorkbenchHostOptions): Promise<WorkbenchHost> {
  const workbench = await installWorkbench();
  const chromium = await installBrowser();
  await using started = new AsyncDisposableStack();
  const data = started.adopt(createTemporaryFolder('data'), (folder) => folder.dispose());
  await installVsix(workbench, data.path, options.vsix);
  const server = started.use(await startServer({ ...options, workbench, dataFolder: data.path }));
  const browser = started.use(await launchBrowser(chromium));
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const owned = started.move();
  return { server, page, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
