/**
 * A German editor with another extension that registers some of the same commands, as chat.md does. Both in one window,
 * because a new window costs more than these tests.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { waitForText } from '../bridge.ts';
import {
  activeTab,
  button,
  dialog,
  focusEditor,
  openFile,
  pick,
  quickInput,
  quickPickRow,
  runCommand,
  showCommands,
  toast,
} from '../workbench/page.ts';
import { takeScreenshot, uiSession } from './session.ts';

const rivalExtension = fileURLToPath(new URL('../rival-extension', import.meta.url));

/** Collects what the status bar says, also if only for a moment. */
const WATCH_STATUS = `(() => {
  const bar = document.querySelector('.part.statusbar');
  globalThis.seenStatus = [];
  new MutationObserver(() => globalThis.seenStatus.push(bar.textContent))
    .observe(bar, { childList: true, subtree: true, characterData: true });
})()`;

const ui = uiSession({
  language: 'de',
  extensions: [rivalExtension],
  settings: { 'filechat.approve': 'auto' },
});

ui.test('a command of another extension affects only that command', async ({ page, evaluate }) => {
  await evaluate(async (vscode) => {
    const rival = await vscode.extensions.getExtension('filechat-rival.filechat')?.activate();
    if (vscode.extensions.getExtension('filechat.filechat')?.isActive) throw new Error('We were first.');
    rival.take('filechat.newChat', 'filechat.insertPrompt');
  });
  // The first command loads everything, and says so.
  await page.evaluate(WATCH_STATUS);
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('I');
  await quickPickRow(page, 'Modell auswählen…').waitFor();
  assert.match(String(await page.evaluate('globalThis.seenStatus.join()')), /Filechat: wird gestartet…/);
  await page.keyboard.press('Escape');
  await openFile(page, 'tour.chat.md');
  const warning = toast(page, 'Die Erweiterung „Rival“ (filechat-rival.filechat) verwendet bereits');
  await warning.waitFor();
  assert.match(await warning.innerText(), /filechat\.newChat, filechat\.insertPrompt/);
  await button(warning, 'Nicht mehr anzeigen').click();
  assert.equal(await evaluate((vscode) => vscode.commands.executeCommand('filechat.newChat')), 'rival');
  await focusEditor(page);
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('Shift+Enter');
  await button(dialog(page, 'MCP-Server „sample“'), 'Zulassen').click();
  await waitForText(evaluate, '# %% tool sample.tour');
});

ui.test('an extension that starts later cannot replace a command', async ({ evaluate }) => {
  const outcome = await evaluate(async (vscode) => {
    const rival = await vscode.extensions.getExtension('filechat-rival.filechat')?.activate();
    try {
      rival.take('filechat.fork');
    } catch (error) {
      return String(error);
    }
    return 'taken';
  });
  assert.match(outcome, /filechat\.fork/);
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.fork'));
  await waitForText(evaluate, 'sample.tour');
  assert.equal(
    await evaluate((vscode) => vscode.window.activeTextEditor?.document.uri.path.replace(/.*\//, '')),
    'tour-fork.chat.md',
  );
});

ui.test('a German editor has German commands, views, lists and messages', async (session) => {
  const { page, evaluate, workspace } = session;
  assert.equal(await evaluate((vscode) => vscode.env.language), 'de');

  // From package.nls.de.json.
  writeFileSync(workspace.path('deutsch.chat.md'), '# %% user\nGuten Tag!\n');
  await evaluate(async (vscode, path) => {
    await vscode.window.showTextDocument(vscode.Uri.file(path));
  }, workspace.path('deutsch.chat.md'));
  await activeTab(page, 'deutsch.chat.md').waitFor();
  await showCommands(page, 'Filechat: ');
  for (const title of ['Ab diesem Beitrag verzweigen', 'Antwort neu generieren', 'Assets anzeigen']) {
    await quickPickRow(page, `Filechat: ${title}`).waitFor();
  }
  await takeScreenshot(page, 'german-palette');
  await page.keyboard.press('Escape');

  // From l10n/bundle.l10n.de.json.
  await runCommand(page, 'Filechat: Anzeigen, was gesendet wird');
  await quickInput(page)
    .locator('.quick-input-title', { hasText: /^Was .*gesendet wird: ≈/ })
    .waitFor();
  await quickPickRow(page, 'Sie: Guten Tag!').waitFor();
  await takeScreenshot(page, 'german-sent');
  await page.keyboard.press('Escape');

  await runCommand(page, 'Filechat: Beispielchat öffnen…');
  await pick(page, 'Öffnet eine Kopie als neuen Chat', 'Ein erstes Tool');
  await activeTab(page, 'tour-2.chat.md').waitFor();

  await runCommand(page, 'Filechat: App öffnen');
  await toast(page, 'Hier ist kein Toolaufruf mit einem Ergebnis.').waitFor();

  await evaluate((vscode) => vscode.commands.executeCommand('filechat.servers.focus'));
  await page
    .getByRole('button', { name: /MCP-Server/ })
    .first()
    .waitFor();
  await page
    .locator('.pane-body')
    .getByRole('treeitem', { name: /^Heute, \d+ Chats/ })
    .waitFor();
  await takeScreenshot(page, 'german-views');
});
