/** Beside another extension that registers some of the same commands, as chat.md does. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { waitForText } from '../bridge.ts';
import { button, dialog, focusEditor, openFile, toast } from '../workbench/page.ts';
import { uiSession } from './session.ts';

const rivalExtension = fileURLToPath(new URL('../rival-extension', import.meta.url));

const ui = uiSession({ extensions: [rivalExtension], settings: { 'filechat.approve': 'auto' } });

ui.test('a command that was taken before us costs only that command', async ({ page, evaluate }) => {
  await evaluate(async (vscode) => {
    const rival = await vscode.extensions.getExtension('filechat-rival.filechat')?.activate();
    if (vscode.extensions.getExtension('filechat.filechat')?.isActive) throw new Error('We were first.');
    rival.take('filechat.newChat', 'filechat.insertPrompt');
  });
  await openFile(page, 'tour.chat.md');
  const warning = toast(page, 'The extension “Rival” (filechat-rival.filechat) already uses');
  await warning.waitFor();
  assert.match(await warning.innerText(), /filechat\.newChat, filechat\.insertPrompt/);
  await button(warning, 'Don’t Show Again').click();
  assert.equal(await evaluate((vscode) => vscode.commands.executeCommand('filechat.newChat')), 'rival');
  await focusEditor(page);
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('Shift+Enter');
  await button(dialog(page, 'MCP server “sample”'), 'Allow').click();
  await waitForText(evaluate, '# %% tool sample.tour');
});

ui.test('an extension that starts after us takes no command', async ({ evaluate }) => {
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
