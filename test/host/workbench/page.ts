/** The workbench in a browser, and the gestures of its user. */
import type { FrameLocator, Locator, Page } from 'playwright-core';
import type { ServerAddress } from './server.ts';

const loadTimeoutMs = 60_000;
const paletteTimeoutMs = 10_000;

export interface WorkbenchView {
  /** The workspace: an absolute path. */
  readonly folder: string;
  /** A file to open in it: an absolute path. */
  readonly file?: string | undefined;
}

export interface DevelopmentOptions {
  /** Folders of extensions to load beside the installed ones. */
  readonly extensions: readonly string[];
  /** A module whose `run` the extension host calls. */
  readonly tests?: string;
  /** The language that the workbench takes itself to speak; English unless it is named. */
  readonly language?: string | undefined;
}

/** The address of the workbench, with a folder and perhaps a file open in it. */
export function workbenchUrl(server: ServerAddress, view: WorkbenchView): string {
  const payload = [
    ['skipWelcome', 'true'],
    ['skipReleaseNotes', 'true'],
  ];
  if (view.file) payload.push(['openFile', `vscode-remote://${server.authority}${urlPath(view.file)}`]);
  const query = new URLSearchParams({ folder: urlPath(view.folder), payload: JSON.stringify(payload) });
  return `${server.url}/?${query}`;
}

/** Goes to the workbench; resolves as soon as it starts to load. */
export async function openWorkbench(
  page: Page,
  server: ServerAddress,
  view: WorkbenchView,
  development: DevelopmentOptions,
): Promise<void> {
  await page.addInitScript({ content: patchOptionsScript(server, development) });
  await page.addInitScript({ content: stillScript });
  await page.addInitScript({ content: steadyClockScript });
  if (development.language) await page.addInitScript({ content: languageScript(development.language) });
  await page.goto(workbenchUrl(server, view), { waitUntil: 'commit' });
}

/** Waits until the workbench stands and knows its extensions. */
export async function waitForWorkbench(page: Page): Promise<void> {
  await page.locator('.monaco-workbench').waitFor({ timeout: loadTimeoutMs });
  await page.waitForFunction(
    () => performance.getEntriesByName('code/didLoadExtensions').length > 0,
    undefined,
    { timeout: loadTimeoutMs },
  );
}

/** The palette, a QuickPick or an InputBox: whichever is open. */
export function quickInput(page: Page): Locator {
  return page.locator('.quick-input-widget:not(.hidden)').filter({ visible: true });
}

/** A row of the open QuickPick whose label holds this text, or is it. */
export function quickPickRow(page: Page, label: string | { readonly exact: string }): Locator {
  const names = page.locator('.label-name').filter({ visible: true });
  const named =
    typeof label === 'string'
      ? names.filter({ hasText: label })
      : names.getByText(label.exact, { exact: true });
  return quickInput(page).locator('.monaco-list-row').filter({ has: named }).first();
}

/** The labels of the open QuickPick. Its rows may also have hidden ones, of an earlier list. */
export function quickPickLabels(page: Page): Promise<string[]> {
  const names = quickInput(page).locator('.monaco-list-row .label-name').filter({ visible: true });
  return names.allTextContents();
}

/** Waits for the QuickPick or InputBox that asks this (its title or placeholder) and fills it in. */
export async function fillQuickInput(page: Page, asks: string, text: string): Promise<void> {
  await quickInputThatAsks(page, asks).locator('.quick-input-box input').fill(text);
}

/** Waits for the QuickPick that asks this (its title or placeholder) and clicks a row. */
export async function pick(page: Page, asks: string, label: string): Promise<void> {
  await quickInputThatAsks(page, asks).waitFor();
  await quickPickRow(page, label).click();
}

/** Waits for the InputBox that asks this (its title, placeholder or prompt), types and accepts. */
export async function answer(page: Page, asks: string, text: string): Promise<void> {
  await fillQuickInput(page, asks, text);
  await page.keyboard.press('Enter');
}

/** Opens the palette and shows the commands that match. */
export async function showCommands(page: Page, title: string): Promise<void> {
  await page.keyboard.press('F1');
  await quickInput(page).locator('.quick-input-box input').fill(`>${title}`);
}

/**
 * Runs a command by its title in the palette. An editor that takes the focus while it opens closes the palette; a person
 * would open it again.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await showCommands(page, title);
    try {
      return await quickPickRow(page, title).click({ timeout: paletteTimeoutMs });
    } catch (error) {
      if (tries === 3) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/** The tab in front, if it shows the file of this name. */
export function activeTab(page: Page, name: string): Locator {
  return page.locator(`.tab.active[data-resource-name="${name}"]`);
}

/** Puts the cursor into the first editor group; only then do typed keys arrive. */
export async function focusEditor(page: Page): Promise<void> {
  await page.locator('.editor-group-container .monaco-editor .view-line').first().waitFor();
  // A click could land on a hover or a suggestion instead.
  await page.keyboard.press('ControlOrMeta+1');
  await page.locator('.editor-group-container.active .monaco-editor.focused').first().waitFor();
}

/** A notification that holds this text. */
export function toast(page: Page, text: string | RegExp): Locator {
  return page.locator('.notifications-toasts .notification-list-item', { hasText: text });
}

/** A button in the title bar of the editor; the lenses in the text have the same words. */
export function titleButton(page: Page, name: string): Locator {
  return page.locator('.editor-actions').getByRole('button', { name });
}

/** A button of a toast or a dialog. */
export function button(container: Locator, name: string): Locator {
  return container.getByRole('button', { name, exact: true });
}

/** What can be clicked above a line, by its words. */
export function codeLens(page: Page, title: string): Locator {
  return page.locator('.codelens-decoration a', { hasText: title }).filter({ visible: true }).last();
}

/** The modal dialog that holds this text. */
export function dialog(page: Page, text: string | RegExp): Locator {
  return page.locator('.monaco-dialog-box', { hasText: text });
}

/** A row of a view, by what a screen reader says of it. */
export function viewRow(page: Page, name: RegExp): Locator {
  return page.locator('.pane-body').getByRole('treeitem', { name });
}

/** Chooses an entry of the context menu of something. */
export async function chooseFromMenu(page: Page, thing: Locator, entry: string | RegExp): Promise<void> {
  await thing.click({ button: 'right' });
  const menu = page.locator('.monaco-menu');
  // A menu ignores the mouse just after it has opened.
  await menu.getByRole('menuitem', { name: entry }).hover();
  await page.keyboard.press('Enter');
  await menu.waitFor({ state: 'detached' });
}
/** Whether words that match are drawn after a line. They are not part of the text of the page. */
export function hasNote(page: Page, words: string): Promise<boolean> {
  return page.evaluate(noteScript(words)) as Promise<boolean>;
}

export async function waitForNote(page: Page, words: string): Promise<void> {
  await page.waitForFunction(noteScript(words));
}

export async function waitForNoNote(page: Page, words: string): Promise<void> {
  await page.waitForFunction(`!${noteScript(words)}`);
}

/** Not a function: Playwright only evaluates a string, so a function in it would count as true. */
function noteScript(words: string): string {
  return `[...document.querySelectorAll('.view-line span')].some((each) =>
    new RegExp(${JSON.stringify(words)}).test(getComputedStyle(each, '::after').content))`;
}

/** The cursor as the window has it: the extension host knows it before. */
export async function waitForCursor(page: Page, line: number, column: number): Promise<void> {
  await page.locator('[id="status.editor.selection"]', { hasText: `Ln ${line}, Col ${column}` }).waitFor();
}

/** How long a hover may take to appear before a user would point again. */
const HOVER_MS = 5_000;

/**
 * Points at something until its hover is there. What is drawn after words moves them, also away from under the mouse,
 * and then nothing comes however long one waits.
 */
export async function pointAt(page: Page, thing: Locator, hover: Locator): Promise<void> {
  for (let tries = 5; tries > 1; tries -= 1) {
    await thing.hover();
    const isThere = await hover.waitFor({ timeout: HOVER_MS }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await page.mouse.move(0, 0);
  }
  await thing.hover();
  await hover.waitFor();
}

/** What an extension shows in its webview; `vscode.markdown-language-features` is the preview. */
export function webview(page: Page, extensionId: string): FrameLocator {
  return page
    .frameLocator(`iframe.webview.ready[src*="extensionId=${extensionId}"]`)
    .frameLocator('iframe#active-frame');
}

/** Waits until an image is decoded and resolves to its own width in pixels. */
export async function imageWidth(image: Locator): Promise<number> {
  return image.evaluate((element: { decode(): Promise<void>; naturalWidth: number }) =>
    element.decode().then(() => element.naturalWidth),
  );
}

function quickInputThatAsks(page: Page, asks: string): Locator {
  const title = page.locator('.quick-input-title, .quick-input-message', { hasText: asks });
  const placeholder = page.getByPlaceholder(asks);
  return quickInput(page).filter({ has: title.or(placeholder) });
}

/**
 * What turns and runs to and fro while something is awaited stands still. Without a graphics card the processors that
 * the tests need would draw it, sixty times a second.
 */
const stillScript = `if (self === top) {
  const still = new CSSStyleSheet();
  still.replaceSync('.progress-bit, .codicon-modifier-spin, .codicon-loading { animation: none !important; }');
  document.adoptedStyleSheets.push(still);
}`;

/**
 * VS Code shows at most three toasts in 0.8 s by the clock of the machine. While that is set back, which happens to
 * virtual machines, it would show none.
 */
const steadyClockScript = `{
  const startedAt = Date.now() - performance.now();
  Date.now = () => Math.floor(startedAt + performance.now());
}`;

/**
 * The page reads its options from an attribute when it starts. Reading it through a patched
 * getter needs no server flag and leaves notifications alone, which the smoke test driver hides.
 */
function patchOptionsScript(server: ServerAddress, { extensions, tests }: DevelopmentOptions): string {
  const uri = (path: string) => ({
    scheme: 'vscode-remote',
    authority: server.authority,
    path: urlPath(path),
  });
  const developmentOptions = {
    extensions: extensions.map(uri),
    ...(tests ? { extensionTestsPath: uri(tests) } : {}),
  };
  return `{
    const getAttribute = Element.prototype.getAttribute;
    Element.prototype.getAttribute = function (name) {
      const value = getAttribute.call(this, name);
      if (name !== 'data-settings' || this.id !== 'vscode-workbench-web-configuration') return value;
      return JSON.stringify({ ...JSON.parse(value), developmentOptions: ${JSON.stringify(developmentOptions)} });
    };
  }`;
}

/** What the script of a language pack does, without its texts: those of the workbench itself stay English. */
function languageScript(language: string): string {
  return `globalThis._VSCODE_NLS_LANGUAGE = ${JSON.stringify(language)};`;
}

/** Windows paths become /c:/… as they do in file URIs. */
function urlPath(path: string): string {
  return path.startsWith('/') ? path : `/${path.replaceAll('\\', '/')}`;
}
