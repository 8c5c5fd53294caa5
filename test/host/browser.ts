/** A Chromium on this machine: one that is there, or Debian's when it can be installed. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runProcess } from './process.ts';
import { say, timed } from './progress.ts';

const aptTimeoutMs = 10 * 60_000;

const commandNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

const usualPaths: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  linux: ['/usr/bin/chromium', '/usr/bin/google-chrome', '/snap/bin/chromium'],
  win32: [
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
    'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
  ],
};

/** Resolves to the path of a Chrome or Chromium. */
export async function installBrowser(): Promise<string> {
  const found = findBrowser();
  if (found) return found;
  if (!canInstallPackages()) {
    throw new Error(
      'No Chrome or Chromium was found. Install one, or name it in the environment variable CHROMIUM.',
    );
  }
  await timed('Chromium is installed', installDebianChromium);
  const installed = findBrowser();
  if (!installed) throw new Error('apt-get installed chromium, but it is not on the PATH.');
  return installed;
}

function findBrowser(): string | undefined {
  const named = process.env['CHROMIUM'];
  if (named) return named;
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => commandNames.map((name) => join(folder, name)));
  return [...(usualPaths[process.platform] ?? []), ...onPath].find((path) => existsSync(path));
}

function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

async function installDebianChromium(): Promise<void> {
  say('Installing Chromium with apt-get; this happens once.');
  const packages = ['chromium', 'fonts-noto-color-emoji', 'fonts-dejavu-core'];
  await apt(['update']);
  await apt(['install', '-y', '--no-install-recommends', ...packages]);
}

async function apt(args: readonly string[]): Promise<void> {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await runProcess('apt-get', args, { env, timeoutMs: aptTimeoutMs });
}
