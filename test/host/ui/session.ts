/** A workbench with the packed extension for the UI tests of one file. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { bridgeExtension, bridgeSocket, connectBridge, type Evaluate, waitForText } from '../bridge.ts';
import type { Lane } from '../lane.ts';
import { claimLane } from '../lanes.ts';
import { focusEditor, openWorkbench, waitForWorkbench } from '../page.ts';
import { processEnd } from '../process.ts';
import { say } from '../progress.ts';
import { quietSettings, type Settings } from '../server.ts';
import { openWindow } from '../window.ts';
import { checkout, createWorkspace, type Workspace } from '../workspace.ts';

const startTimeoutMs = 15 * 60_000;
const testTimeoutMs = 90_000;

export interface UiOptions {
  /** A file of the workspace to open at start, by its relative path. */
  readonly file?: string;
  /** How the workspace is trusted: it is, it is not, or the user is asked at start. */
  readonly trust?: 'trusted' | 'restricted' | 'ask';
  readonly settings?: Settings;
  /** Of the editor, such as `de`; English unless it is named. */
  readonly language?: string;
  /** Folders of other extensions to load beside it. */
  readonly extensions?: readonly string[];
  /** For comparison: the same workbench without the extension. */
  readonly withoutFilechat?: boolean;
}

export interface Ui {
  readonly page: Page;
  /** Asks the extension host. */
  readonly evaluate: Evaluate;
  readonly workspace: Workspace;
}

export interface Session extends Ui, AsyncDisposable {}

/** Registers UI tests that share one workbench, started before the first and stopped after the last. */
export function uiSession(options: UiOptions = {}): {
  test(name: string, body: (ui: Ui) => Promise<void>): void;
} {
  let session: Session | undefined;
  before(
    async () => {
      session = await startSession(options);
    },
    { timeout: startTimeoutMs },
  );
  after(() => session?.[Symbol.asyncDispose]());
  return {
    test(name, body) {
      void test(name, { timeout: testTimeoutMs }, async () => {
        if (!session) throw new Error('The workbench did not start.');
        await withScreenshotOnFailure(session.page, name, body(session));
      });
    },
  };
}

/** A workbench without a test around it. Disposing it leaves nothing behind. */
export async function startSession(options: UiOptions = {}): Promise<Session> {
  await using started = new AsyncDisposableStack();
  const lane = started.use(await claimLane());
  const workspace = started.adopt(createWorkspace(), (copy) => copy.dispose());
  const vsix = process.env['FILECHAT_VSIX'] || join(checkout, 'dist', 'filechat.vsix');
  let host = 0;
  // What an extension host writes in the end must not reach the profile of the next window.
  started.defer(() => (host ? processEnd(host) : undefined));
  const { page } = started.use(
    await openWindow(lane, {
      vsix: options.withoutFilechat ? undefined : vsix,
      settings: { ...quietSettings, ...trustSettings[options.trust ?? 'trusted'], ...options.settings },
    }),
  );
  const evaluate = await withScreenshotOnFailure(page, 'start', open(page, lane, workspace, options));
  started.defer(async () => {
    host = await evaluate(() => process.pid);
  });
  const owned = started.move();
  return { page, evaluate, workspace, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function open(
  page: Page,
  lane: Lane,
  workspace: Workspace,
  { file, language, extensions = [] }: UiOptions,
): Promise<Evaluate> {
  const view = { folder: workspace.folder, file: file && workspace.path(file) };
  await openWorkbench(page, lane.server, view, { extensions: [bridgeExtension, ...extensions], language });
  await waitForWorkbench(page);
  return connectBridge(bridgeSocket(lane.dataFolder, workspace.folder));
}

/** Opens a new chat with this question, and puts the cursor behind it. */
export async function openChat(
  { page, evaluate }: Pick<Ui, 'page' | 'evaluate'>,
  question: string,
): Promise<void> {
  await evaluate(
    (vscode, text) => vscode.commands.executeCommand('filechat.newChat', { content: text }),
    question,
  );
  await waitForText(evaluate, question);
  await focusEditor(page);
}

const trustSettings: Record<NonNullable<UiOptions['trust']>, Settings> = {
  trusted: { 'security.workspace.trust.enabled': false },
  restricted: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' },
  ask: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'always' },
};

async function withScreenshotOnFailure<T>(page: Page, name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // Whatever the picture does, the failure itself is what must be reported.
    await saveScreenshot(page, name).catch((problem: unknown) => say(`No screenshot: ${problem}`));
    throw error;
  }
}

/** Whether the tests save screenshots and show what they show in several themes. No assertion depends on it. */
export const wantsScreenshots = Boolean(process.env['FILECHAT_SCREENSHOTS']);

/** Saves a screenshot where one is wanted. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (wantsScreenshots) await saveScreenshot(page, name);
}

/** Saves a screenshot in dist/screenshots/. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const folder = join(checkout, 'dist', 'screenshots');
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name.replace(/\W+/g, '-')}.png`);
  await page.screenshot({ path });
  say(`Screenshot: ${path}`);
}

const THEMES = { light: 'Default Light Modern', dark: 'Default Dark Modern' };

/** Saves screenshots in a light and in a dark theme where they are wanted, and leaves the dark one. */
export async function takeInBothThemes({ page, evaluate }: Pick<Ui, 'page' | 'evaluate'>, name: string) {
  if (!wantsScreenshots) return;
  for (const [kind, theme] of Object.entries(THEMES)) {
    await useTheme(evaluate, theme);
    await page.locator(`.monaco-workbench.vs${kind === 'dark' ? '-dark' : ':not(.vs-dark)'}`).waitFor();
    await saveScreenshot(page, `${name}-${kind}`);
  }
}

export async function useTheme(evaluate: Evaluate, theme: string): Promise<void> {
  await evaluate(
    (vscode, name) => vscode.workspace.getConfiguration('workbench').update('colorTheme', name, true),
    theme,
  );
}
