import assert from 'node:assert/strict';
import {
  activeTab,
  pick,
  quickInput,
  quickPickRow,
  runCommand,
  showCommands,
  toast,
} from '../workbench/page.ts';
import { openChat, takeScreenshot, uiSession } from './session.ts';

const ui = uiSession({ language: 'de' });

ui.test('an editor in German has German commands, views, lists and messages', async (session) => {
  const { page, evaluate } = session;
  assert.equal(await evaluate((vscode) => vscode.env.language), 'de');

  // From package.nls.de.json.
  await openChat(session, 'Guten Tag!');
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
  await pick(page, 'Eine Kopie davon wird Ihr eigener Chat', 'Ein erstes Tool');
  await activeTab(page, 'tour-2.chat.md').waitFor();

  await runCommand(page, 'Filechat: App öffnen');
  await toast(page, 'Hier ist kein beantworteter Toolaufruf.').waitFor();

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
