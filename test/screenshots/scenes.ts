/**
 * The scenes of `npm run screenshots`, by name; the images are dist/screenshots/NAME-THEME.png. Each scene starts with
 * only the sample chat open and the cursor at its end. It changes the workbench and waits for the result; files and
 * editors are restored before the next.
 */
import type { Locator, Page } from 'playwright-core';
import type { Ui } from '../host/ui/session.ts';
import { quickInput, quickPickRow, showCommands, webview } from '../host/workbench/page.ts';

export const SCENES: Readonly<Record<string, (ui: Ui) => Promise<void>>> = {
  editor: (ui) => reveal(ui, '# %% user'),
  folds: async (ui) => {
    await reveal(ui, '---');
    await command(ui, 'editor.foldAll');
    await ui.page.locator('.codicon-folding-collapsed').first().waitFor();
  },
  outline: async (ui) => {
    await command(ui, 'outline.focus');
    await ui.page.locator('.outline-element').first().waitFor();
  },
  lenses: async (ui) => {
    await reveal(ui, '# %% assistant');
    await ui.page.locator('.codelens-decoration a').first().waitFor();
  },
  'lens-of-a-call': async (ui) => {
    await write(ui, '\n\n```tool_call sample.weather\n{"city": "Paris"}\n```\n');
    await ui.page.locator('.codelens-decoration a', { hasText: 'Run' }).last().waitFor();
  },
  'hover-of-a-picture': async (ui) => {
    await hover(ui, 'cmdassets/tool-image');
    await ui.page.waitForFunction(
      `[...document.querySelectorAll('.monaco-hover img')].some((image) => image.naturalWidth > 0)`,
    );
  },
  'hover-of-a-call': (ui) => hover(ui, 'sample.tour'),
  'completion-of-a-file': (ui) => complete(ui, ' #'),
  'completion-of-a-tool': async (ui) => {
    await startSampleServer(ui);
    await complete(ui, ' @');
  },
  'completion-of-a-command': (ui) => complete(ui, '\n/'),
  'completion-of-arguments': async (ui) => {
    // Suggestions do not start a server.
    await startSampleServer(ui);
    await complete(ui, '\n\n```tool_call sample.chart\n{"');
  },
  'links-that-are-sent': async (ui) => {
    await write(ui, '\nLook at [the tour](tour.chat.md) and [the tide](tide.csv) first.');
    await ui.page.waitForFunction(
      `[...document.querySelectorAll('.view-line span')]
        .some((span) => getComputedStyle(span, '::after').content.includes('not sent'))`,
    );
  },
  'what-will-be-sent': async (ui) => {
    await command(ui, 'filechat.showRequest');
    await activeTabOtherThanTheChat(ui).waitFor();
  },
  breakdown: async (ui) => {
    await opens(ui, 'filechat.showBreakdown');
    await quickInput(ui.page).locator('.monaco-list-row').first().waitFor();
  },
  preview: async (ui) => {
    await command(ui, 'markdown.showPreview');
    const image = webview(ui.page, 'vscode.markdown-language-features').locator('img').first();
    await image.waitFor();
    await image.scrollIntoViewIfNeeded();
  },
  'preview-beside': async (ui) => {
    await command(ui, 'markdown.showPreviewToSide');
    const frame = webview(ui.page, 'vscode.markdown-language-features');
    await frame.locator('.filechat-turn').first().waitFor();
    // Images below the window are not loaded.
    await frame.locator('body').evaluate(`Promise.all([...document.images]
      .filter((image) => image.getBoundingClientRect().top < innerHeight)
      .map((image) => image.decode()))`);
  },
  gallery: async (ui) => {
    await reveal(ui, 'cmdassets/tool-audio');
    await opens(ui, 'filechat.showAssets');
    await webview(ui.page, 'filechat.filechat').locator('img').first().waitFor();
  },
  walkthrough: async (ui) => {
    await opens(ui, 'filechat.openWalkthrough');
    await ui.page.locator('.gettingStartedContainer .getting-started-step').first().waitFor();
  },
  chats: async (ui) => {
    await command(ui, 'filechat.chats.focus');
    await ui.page.locator('.pane-body .monaco-list-row', { hasText: 'harbour' }).first().waitFor();
  },
  servers: async (ui) => {
    await startSampleServer(ui);
    await ui.page.locator('.pane-body .monaco-tl-twistie.collapsed').first().click();
  },
  commands: async ({ page }) => {
    await showCommands(page, 'Filechat: ');
    await quickPickRow(page, 'Filechat: ').waitFor();
  },
  progress: async (ui) => {
    await write(ui, '\n\n```tool_call sample.slow\n{"seconds": 60}\n```\n');
    await ui.evaluate((vscode) => void vscode.commands.executeCommand('filechat.run'));
    await ui.page.locator('.codelens-decoration a', { hasText: 'Stop' }).last().waitFor();
  },
};

function command({ evaluate }: Ui, name: string): Promise<void> {
  return evaluate(async (vscode, id) => void (await vscode.commands.executeCommand(id)), name);
}

/** Scrolls the first line with these words to the top. */
async function reveal({ evaluate }: Ui, words: string): Promise<void> {
  await evaluate((vscode, wanted) => {
    const editor = vscode.window.activeTextEditor;
    if (!editor) throw new Error('There is no editor.');
    const at = editor.document.positionAt(Math.max(editor.document.getText().indexOf(wanted), 0));
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.AtTop);
  }, words);
}

async function hover(ui: Ui, words: string): Promise<void> {
  await reveal(ui, words);
  await command(ui, 'editor.action.showHover');
  await ui.page.locator('.monaco-hover:not(.hidden) .hover-row').first().waitFor();
}

/** Inserts at the cursor in one edit, as pasting does. */
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

/** Runs a command that opens an editor or a list. */
async function opens(ui: Ui, name: string): Promise<void> {
  // Not awaited, because it may last until its list is closed.
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
