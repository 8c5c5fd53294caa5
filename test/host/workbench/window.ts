/** A window of a lane: a fresh page with a fresh profile, as if VS Code had just been installed. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { connectToBrowser } from './devTools.ts';
import { linkInstalled } from './installed.ts';
import type { Lane } from './lane.ts';
import { type Settings, writeSettings } from './server.ts';

export interface WindowOptions {
  /** The packed extension to install, if any. */
  readonly vsix?: string | undefined;
  readonly settings: Settings;
}

export interface LaneWindow extends AsyncDisposable {
  /** Blank as yet. */
  readonly page: Page;
}

const viewport = { width: 1400, height: 900 };

/** Everything the page stores. The caches of scripts stay: they are what makes the next start quick. */
const STORAGE = 'cookies,local_storage,indexeddb,websql,service_workers,file_systems,cache_storage';

/** Resets the lane and opens a blank page in it. Disposing it closes the page; the lane stays. */
export async function openWindow(lane: Lane, { vsix, settings }: WindowOptions): Promise<LaneWindow> {
  resetUser(lane, settings);
  if (vsix) await linkInstalled(lane.workbench, lane.dataFolder, vsix);
  const browser = await connectToBrowser(lane.browser);
  const [context] = browser.contexts();
  if (!context) throw new Error('The browser has no default context.');
  const leftOver = context.pages();
  const page = await context.newPage();
  // The new page comes first: a browser without any page would end.
  for (const old of leftOver) await old.close();
  await context.clearPermissions();
  const devTools = await context.newCDPSession(page);
  await devTools.send('Storage.clearDataForOrigin', { origin: lane.server.url, storageTypes: STORAGE });
  await devTools.detach();
  await page.setViewportSize(viewport);
  return {
    page,
    async [Symbol.asyncDispose]() {
      await page.goto('about:blank');
      await browser.close();
    },
  };
}

/** The settings of the user of a lane's windows. */
export function settingsFile(dataFolder: string): string {
  return join(dataFolder, 'data', 'User', 'settings.json');
}

function resetUser({ dataFolder }: Lane, settings: Settings): void {
  const data = join(dataFolder, 'data');
  // The running server holds its logs open.
  const stored = readdirSync(data).filter((name) => name !== 'logs');
  for (const path of [...stored.map((name) => join(data, name)), join(dataFolder, 'extensions')])
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  mkdirSync(join(dataFolder, 'extensions'));
  writeSettings(data, settings);
}
