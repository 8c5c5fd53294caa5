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
  pick,
  quickInput,
  quickPickRow,
  runCommand,
  showCommands,
  toast,
  viewRow,
} from '../workbench/page.ts';
import { showFile, takeScreenshot, uiSession } from './session.ts';

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
  const warning = toast(page, 'Die Erweiterung „Rival“ (filechat-rival.filechat) verwendet bereits');
  await warning.waitFor();
  assert.match(await warning.innerText(), /filechat\.newChat, filechat\.insertPrompt/);
  await button(warning, 'Nicht mehr anzeigen').click();
  assert.equal(await evaluate((vscode) => vscode.commands.executeCommand('filechat.newChat')), 'rival');
});

ui.test('an extension that starts later cannot replace a command', async (session) => {
  const { evaluate } = session;
  await showFile(session, 'tour.chat.md');
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
  await evaluate(async (vscode) => {
    await vscode.commands.executeCommand('cursorBottom');
    await vscode.commands.executeCommand('filechat.fork');
  });
  await waitForText(evaluate, 'Start here');
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
  await showFile(session, 'deutsch.chat.md');
  await showCommands(page, 'Filechat: ');
  for (const title of ['Ab diesem Beitrag verzweigen', 'Antwort neu generieren', 'Assets anzeigen']) {
    await quickPickRow(page, `Filechat: ${title}`).waitFor();
  }
  await takeScreenshot(page, 'german-palette');
  await page.keyboard.press('Escape');

  // From l10n/bundle.l10n.de.json.
  const run = (command: string) =>
    evaluate((vscode, id) => void vscode.commands.executeCommand(id), `filechat.${command}`);
  await run('showBreakdown');
  await quickInput(page)
    .locator('.quick-input-title', { hasText: /^Was .*gesendet wird: ≈/ })
    .waitFor();
  await quickPickRow(page, 'Sie: Guten Tag!').waitFor();
  await takeScreenshot(page, 'german-sent');
  await page.keyboard.press('Escape');

  await run('openSample');
  await pick(page, 'Öffnet eine Kopie als neuen Chat', 'Ein erstes Tool');
  await activeTab(page, 'tour-2.chat.md').waitFor();

  await runCommand(page, 'Filechat: App öffnen');
  await toast(page, 'Hier ist kein Toolaufruf mit einem Ergebnis.').waitFor();

  await evaluate((vscode) => vscode.commands.executeCommand('filechat.servers.focus'));
  await page
    .getByRole('button', { name: /MCP-Server/ })
    .first()
    .waitFor();
  await viewRow(page, /^Heute, \d+ Chats/).waitFor();
  await takeScreenshot(page, 'german-views');
});
