/**
 * What `npm run screenshots` takes pictures of, each in a dark and in a light theme.
 * To add one, append `{ name, prepare }` below: `prepare` is called with the sample chat open in front, the cursor
 * at its end and nothing else open, makes the workbench look as the picture should, and waits for what it is about.
 * A scene may leave anything behind; files are put back and editors closed before the next.
 */
import type { Locator, Page } from 'playwright-core';
import type { Ui } from '../host/ui/session.ts';
import { quickInput, quickPickRow, showCommands, webview } from '../host/workbench/page.ts';

export interface Scene {
  /** The picture is dist/screenshots/NAME-THEME.png. */
  readonly name: string;
  prepare(ui: Ui): Promise<void>;
}

export const SCENES: readonly Scene[] = [
  { name: 'editor', prepare: (ui) => reveal(ui, '# %% user') },
  {
    name: 'folds',
    async prepare(ui) {
      await reveal(ui, '---');
      await command(ui, 'editor.foldAll');
      await ui.page.locator('.codicon-folding-collapsed').first().waitFor();
    },
  },
  {
    name: 'outline',
    async prepare(ui) {
      await command(ui, 'outline.focus');
      await ui.page.locator('.outline-element').first().waitFor();
    },
  },
  {
    name: 'lenses',
    async prepare(ui) {
      await reveal(ui, '# %% assistant');
      await ui.page.locator('.codelens-decoration a').first().waitFor();
    },
  },
  {
    name: 'lens-of-a-call',
    async prepare(ui) {
      await write(ui, '\n\n```tool_call sample.weather\n{"city": "Paris"}\n```\n');
      await ui.page.locator('.codelens-decoration a', { hasText: 'Run' }).last().waitFor();
    },
  },
  { name: 'hover-of-a-picture', prepare: (ui) => hover(ui, 'cmdassets/tool-image') },
  { name: 'hover-of-a-call', prepare: (ui) => hover(ui, 'sample.tour') },
  { name: 'completion-of-a-file', prepare: (ui) => complete(ui, ' #') },
  {
    name: 'completion-of-a-tool',
    async prepare(ui) {
      await startSampleServer(ui);
      await complete(ui, ' @');
    },
  },
  { name: 'completion-of-a-command', prepare: (ui) => complete(ui, '\n/') },
  {
    name: 'completion-of-arguments',
    async prepare(ui) {
      // Suggestions come from what servers said; none is started for them.
      await startSampleServer(ui);
      await complete(ui, '\n\n```tool_call sample.chart\n{"');
    },
  },
  {
    name: 'links-that-are-sent',
    async prepare(ui) {
      await write(ui, '\nLook at [the tour](tour.chat.md) and [the tide](tide.csv) first.');
      await ui.page.waitForFunction(
        `[...document.querySelectorAll('.view-line span')]
          .some((span) => getComputedStyle(span, '::after').content.includes('not sent'))`,
      );
    },
  },
  {
    name: 'what-will-be-sent',
    async prepare(ui) {
      await command(ui, 'filechat.showRequest');
      await activeTabOtherThanTheChat(ui).waitFor();
    },
  },
  { name: 'breakdown', prepare: (ui) => opens(ui, 'filechat.showBreakdown') },
  {
    name: 'preview',
    async prepare(ui) {
      await command(ui, 'markdown.showPreview');
      const image = webview(ui.page, 'vscode.markdown-language-features').locator('img').first();
      await image.waitFor();
      await image.scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'preview-beside',
    async prepare(ui) {
      await command(ui, 'markdown.showPreviewToSide');
      await webview(ui.page, 'vscode.markdown-language-features').locator('img').first().waitFor();
    },
  },
  {
    name: 'gallery',
    async prepare(ui) {
      await reveal(ui, 'cmdassets/tool-audio');
      await opens(ui, 'filechat.showAssets');
      await webview(ui.page, 'filechat.filechat').locator('img').first().waitFor();
    },
  },
  {
    name: 'walkthrough',
    async prepare(ui) {
      await opens(ui, 'filechat.openWalkthrough');
      await ui.page.locator('.gettingStartedContainer .getting-started-step').first().waitFor();
    },
  },
  {
    name: 'chats',
    async prepare(ui) {
      await command(ui, 'filechat.chats.focus');
      await ui.page.locator('.pane-body .monaco-list-row', { hasText: 'harbour' }).first().waitFor();
    },
  },
  {
    name: 'servers',
    async prepare(ui) {
      await startSampleServer(ui);
      await ui.page.locator('.pane-body .monaco-tl-twistie.collapsed').first().click();
    },
  },
  {
    name: 'commands',
    async prepare({ page }) {
      await showCommands(page, 'Filechat: ');
      await quickPickRow(page, 'Filechat: ').waitFor();
    },
  },
  {
    name: 'progress',
    async prepare(ui) {
      await write(ui, '\n\n```tool_call sample.slow\n{"seconds": 60}\n```\n');
      await ui.evaluate((vscode) => void vscode.commands.executeCommand('filechat.run'));
      await ui.page.locator('.codelens-decoration a', { hasText: 'Stop' }).last().waitFor();
    },
  },
];

function command({ evaluate }: Ui, name: string): Promise<void> {
  return evaluate(async (vscode, id) => void (await vscode.commands.executeCommand(id)), name);
}

/** Scrolls the first line that holds these words to the top. */
async function reveal({ evaluate }: Ui, words: string): Promise<void> {
  await evaluate((vscode, wanted) => {
    const editor = vscode.window.activeTextEditor;
    if (!editor) throw new Error('There is no editor.');
    const at = editor.document.positionAt(Math.max(editor.document.getText().indexOf(wanted), 0));
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.AtTop);
  }, words);
}

/** Puts the cursor on these words and asks for their hover. */
async function hover(ui: Ui, words: string): Promise<void> {
  await reveal(ui, words);
  await command(ui, 'editor.action.showHover');
  await ui.page.locator('.monaco-hover:not(.hidden) .hover-row').first().waitFor();
}

/** Writes at the cursor in one edit, as pasting does. */
async function write({ page }: Ui, text: string): Promise<void> {
  await page.keyboard.insertText(text);
}

async function complete(ui: Ui, typed: string): Promise<void> {
  await write(ui, typed);
  await command(ui, 'editor.action.triggerSuggest');
  await suggestions(ui.page).first().waitFor();
}

function suggestions(page: Page): Locator {
  return page.locator('.suggest-widget.visible .monaco-list-row');
}

/** Runs a command that opens an editor or asks with a list. */
async function opens(ui: Ui, name: string): Promise<void> {
  // It may last as long as its list is open, so nobody waits for its end.
  await ui.evaluate((vscode, id) => void vscode.commands.executeCommand(id), name);
  await activeTabOtherThanTheChat(ui).or(quickInput(ui.page)).first().waitFor();
}

function activeTabOtherThanTheChat({ page }: Ui): Locator {
  return page.locator('.editor-group-container.active .tab.active:not([data-resource-name$=".chat.md"])');
}

async function startSampleServer(ui: Ui): Promise<void> {
  await command(ui, 'filechat.servers.focus');
  await ui.evaluate(
    (vscode) => void vscode.commands.executeCommand('filechat.startServer', { server: 'sample' }),
  );
  await ui.page.locator('.pane-body .monaco-list-row', { hasText: 'ready' }).waitFor();
  await command(ui, 'workbench.action.focusActiveEditorGroup');
}
