/** A workbench with the packed extension for the UI tests of one file. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { atEnd } from '../../kit/atEnd.ts';
import { watchClock } from '../../kit/clock.ts';
import { bridgeExtension, bridgeSocket, connectBridge, type Evaluate, waitForText } from '../bridge.ts';
import { processEnd, waitFor } from '../process.ts';
import { say } from '../progress.ts';
import type { Lane } from '../workbench/lane.ts';
import { claimLane } from '../workbench/lanes.ts';
import { activeTab, focusEditor, openWorkbench, waitForWorkbench } from '../workbench/page.ts';
import { quietSettings, type Settings } from '../workbench/server.ts';
import { openWindow, settingsFile } from '../workbench/window.ts';
import { checkout, createWorkspace, type Workspace } from '../workspace.ts';
import { tidyUp } from './tidyUp.ts';

const testTimeoutMs = 90_000;
const clock = watchClock();

export interface UiOptions {
  /** A file of the workspace to open at start, by its relative path. */
  readonly file?: string;
  /** How the workspace is trusted: it is, it is not, or the user is asked at start. */
  readonly trust?: 'trusted' | 'restricted' | 'ask';
  readonly settings?: Settings;
  /** The settings that everybody starts with, instead of those that keep the window quiet. */
  readonly defaults?: boolean;
  /** Of the editor, such as `de`; English unless it is named. */
  readonly language?: string;
  /** Folders of other extensions to load beside it. */
  readonly extensions?: readonly string[];
  /** For comparison: the same workbench without the extension. */
  readonly withoutFilechat?: boolean;
  /** Changes the workspace before it is opened. */
  readonly prepare?: (workspace: Workspace) => void;
}

export interface Ui {
  readonly page: Page;
  /** Asks the extension host. */
  readonly evaluate: Evaluate;
  readonly workspace: Workspace;
}

export interface Session extends Ui, AsyncDisposable {
  /** The settings of its user. */
  readonly settingsFile: string;
}

/** Registers tests that share a window. */
export interface UiTests {
  test(
    name: string,
    body: (ui: Omit<Session, keyof AsyncDisposable>) => Promise<void>,
    timeoutMs?: number,
  ): void;
}

/**
 * Registers UI tests that share a window. Files of one process follow each other in the same window, which is tidied up
 * in between (tidyUp.ts): a new one takes longer than most files.
 */
export function uiSession(options: UiOptions = {}): UiTests {
  const user = Symbol('A file of tests');
  atEnd(() => leaveWindow(user));
  return {
    test(name, body, timeoutMs = testTimeoutMs) {
      void test(name, { timeout: timeoutMs }, async () => {
        await clock.caughtUp();
        const session = await enterWindow(user, options);
        await withScreenshotOnFailure(session.page, name, body(session));
      });
    },
  };
}

let current: { readonly user: symbol; readonly options: UiOptions; readonly session: Session } | undefined;

async function enterWindow(user: symbol, options: UiOptions): Promise<Session> {
  const last = current;
  if (last?.user === user) return last.session;
  current = undefined;
  const session = (last && (await reuse(last, options))) ?? (await startSession(options));
  current = { user, options, session };
  return session;
}

async function leaveWindow(user: symbol): Promise<void> {
  if (current?.user !== user) return;
  const { session } = current;
  current = undefined;
  await session[Symbol.asyncDispose]();
}

/** The last window for the next file, unless one of them is special or the window is stuck. */
async function reuse(last: NonNullable<typeof current>, options: UiOptions): Promise<Session | undefined> {
  const { session } = last;
  if (isPlain(last.options) && isPlain(options)) {
    try {
      await tidyUp(session, windowSettings(options));
      if (options.file) await showFile(session, options.file);
      return session;
    } catch (error) {
      say(`The last window cannot be used again. ${error}`);
    }
  }
  await session[Symbol.asyncDispose]();
  return undefined;
}

/** Whether a window can be had by changing the settings and opening a file. */
function isPlain({ settings: _settings, file: _file, ...special }: UiOptions): boolean {
  return Object.keys(special).length === 0;
}

/** Shows a file of the workspace, without the list that users choose it from. */
export async function showFile({ page, evaluate, workspace }: Ui, name: string): Promise<void> {
  await evaluate(async (vscode, path) => {
    await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
  }, workspace.path(name));
  await activeTab(page, name).waitFor();
}

function windowSettings({ trust = 'trusted', defaults = false, settings }: UiOptions): Settings {
  return { ...(defaults ? {} : quietSettings), ...trustSettings[trust], ...settings };
}

/** A workbench without a test around it. Disposing it leaves nothing behind. */
export async function startSession(options: UiOptions = {}): Promise<Session> {
  await using started = new AsyncDisposableStack();
  const lane = started.use(await claimLane());
  const workspace = started.adopt(createWorkspace(), (copy) => copy.dispose());
  options.prepare?.(workspace);
  const vsix = process.env['FILECHAT_VSIX'] || join(checkout, 'dist', 'filechat.vsix');
  let host = 0;
  // What an extension host writes in the end must not reach the profile of the next window.
  started.defer(() => (host ? processEnd(host) : undefined));
  const { page } = started.use(
    await openWindow(lane, {
      vsix: options.withoutFilechat ? undefined : vsix,
      settings: windowSettings(options),
    }),
  );
  const evaluate = await withScreenshotOnFailure(page, 'start', open(page, lane, workspace, options));
  started.defer(async () => {
    host = await evaluate(() => process.pid);
  });
  const owned = started.move();
  return {
    page,
    evaluate,
    workspace,
    settingsFile: settingsFile(lane.dataFolder),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
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

/** Opens a new chat with this question, and puts the cursor after it. */
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

/** Trusts a workspace that has not been trusted, and closes the page where users do that. */
export async function trustWorkspace({ page, evaluate }: Pick<Ui, 'page' | 'evaluate'>): Promise<void> {
  await evaluate((vscode) => vscode.commands.executeCommand('workbench.trust.manage'));
  const editor = page.locator('.workspace-trust-editor');
  await editor.getByRole('button', { name: 'Trust', exact: true }).first().click();
  await waitFor('trust', 10_000, () => evaluate((vscode) => vscode.workspace.isTrusted || undefined));
  await evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
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

/** Saves screenshots where they are wanted. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (wantsScreenshots) await saveAtWidths(page, name);
}

export const WIDTHS = [900, 1500];

/** Saves screenshots of a narrow and of a wide window, and leaves the window as it was. */
export async function saveAtWidths(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await resize(page, width);
    await saveScreenshot(page, `${name}-${width}`);
  }
  if (before) await page.setViewportSize(before);
}

export async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: page.viewportSize()?.height ?? 900 });
  // Painted twice: the second frame has what the first one has moved.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
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
    await saveAtWidths(page, `${name}-${kind}`);
  }
}

export async function useTheme(evaluate: Evaluate, theme: string): Promise<void> {
  await evaluate(
    (vscode, name) => vscode.workspace.getConfiguration('workbench').update('colorTheme', name, true),
    theme,
  );
}
