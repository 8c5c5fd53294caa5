/** A Chromium on this machine: one that is there, or Debian's when it can be installed. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runProcess, startProcess, waitFor } from '../process.ts';
import { say, timed } from '../progress.ts';

const aptTimeoutMs = 10 * 60_000;
const startTimeoutMs = 60_000;

/** The headless shell first: it has no window to draw, which is a tenth of what UI tests cost. */
const commandNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
];

const usualPaths: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  linux: [
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/google-chrome',
    '/snap/bin/chromium',
  ],
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
  await apt(['update']);
  const fonts = ['fonts-noto-color-emoji', 'fonts-dejavu-core'];
  const install = (browser: string) => apt(['install', '-y', '--no-install-recommends', browser, ...fonts]);
  // Not every release has the shell as a package.
  await install('chromium-headless-shell').catch(() => install('chromium'));
}

async function apt(args: readonly string[]): Promise<void> {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  await runProcess('apt-get', args, { env, timeoutMs: aptTimeoutMs });
}

const switches = [
  '--headless',
  // Chromium's sandbox does not start for root, nor in most containers.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
  '--mute-audio',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
  // Pages have a size of their own (window.ts). Of a page, only what lies in the window is drawn, and nobody looks.
  '--window-size=500,200',
  '--autoplay-policy=no-user-gesture-required',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-hang-monitor',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-search-engine-choice-screen',
  '--disable-sync',
  '--metrics-recording-only',
  // A window that is not in front runs at full speed all the same.
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-back-forward-cache',
  '--disable-ipc-flooding-protection',
  `--disable-features=${[
    // A script that is streamed is compiled again although its compiled form is cached.
    'ScriptStreaming',
    'AcceptCHFrame',
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'DestroyProfileOnBrowserClose',
    'HttpsFirstBalancedModeAutoEnable',
    'HttpsUpgrades',
    'MediaRouter',
    'OptimizationHints',
    'PaintHolding',
    'PreloadTopChromeWebUI',
    'ThirdPartyStoragePartitioning',
    'Translate',
  ].join()}`,
];

export interface RunningBrowser extends AsyncDisposable {
  /** Where it takes DevTools connections. */
  readonly url: string;
}

/** Starts a headless browser with a profile and the rules by which it resolves host names. */
export async function startBrowser(
  executable: string,
  profile: string,
  resolverRules: string,
): Promise<RunningBrowser> {
  // Without a home of its own the sound system makes a folder among the temporary ones.
  const running = startProcess(
    executable,
    [
      ...switches,
      `--user-data-dir=${profile}`,
      `--host-resolver-rules=${resolverRules}`,
      '--remote-debugging-port=0',
      'about:blank',
    ],
    { env: { PULSE_RUNTIME_PATH: profile } },
  );
  // The browser writes the port it has chosen into its profile.
  const file = join(profile, 'DevToolsActivePort');
  const port = await waitFor('the browser', startTimeoutMs, async () =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0] || undefined : undefined,
  );
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => running.stop() };
}
