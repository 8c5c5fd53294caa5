import assert from 'node:assert/strict';
import { waitForText } from '../../../bridge.ts';
import {
  button,
  dialog,
  focusEditor,
  pick,
  pointAt,
  quickInput,
  quickPickRow,
  runCommand,
  toast,
} from '../../../workbench/page.ts';
import { heldModel } from '../../heldModel.ts';
import { openChat, takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession();
const model = heldModel();
const KEY = 'sk-a-key-that-nobody-may-see';

ui.test('the chosen model is written to the front matter', async ({ page, evaluate }) => {
  await openChat({ page, evaluate }, 'Who answers?');
  await model.use(evaluate);
  await focusEditor(page);
  await runCommand(page, 'Filechat: Select Model');
  await quickPickRow(page, 'held').waitFor();
  await takeScreenshot(page, 'pick-a-model');
  await pick(page, 'Which model should answer', 'held');
  const text = await waitForText(evaluate, 'model: held');
  assert.match(text, /^---\nmodel: held\n---\n/);
});

ui.test('a key is entered masked and sent only to its provider', async ({ page, evaluate }) => {
  await focusEditor(page);
  await runCommand(page, 'Filechat: Set API Key');
  await quickInput(page).getByText('API Key for held').waitFor();
  await quickInput(page).getByText(model.address).waitFor();
  const box = quickInput(page).locator('.quick-input-box input');
  assert.equal(await box.getAttribute('type'), 'password');
  await box.fill(KEY);
  await page.keyboard.press('Enter');
  await toast(page, 'The key for held was saved.').waitFor();
  await runCommand(page, 'Filechat: Show Request');
  const shown = await waitForText(evaluate, 'Next Request to held');
  await takeScreenshot(page, 'show-request');
  assert.match(shown, /"content": "Who answers\?"/);
  assert.match(shown, /authorization: «hidden»/);
  assert.doesNotMatch(shown, new RegExp(KEY));
  assert.equal(model.asked, 0);
});

ui.test('the request preview closes without a prompt and cannot be run', async ({ page }) => {
  await page.keyboard.press('ControlOrMeta+W');
  await page.locator('.tab', { hasText: 'Request of' }).waitFor({ state: 'detached' });
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
});

ui.test('the status bar shows the model, the run and its cost', async ({ page, evaluate }) => {
  await focusEditor(page);
  const item = page.locator('[id="filechat.filechat.filechat.cost"], [id*="filechat.cost"]').first();
  await item.filter({ hasText: 'held' }).waitFor();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.press('Shift+Enter');
  await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();
  const reply = await model.next();
  assert.equal(reply.authorization, `Bearer ${KEY}`);
  await item.filter({ hasText: /held · \d+ s/ }).waitFor();
  reply.say('I do.');
  reply.finish();
  await waitForText(evaluate, 'I do.\n\n# %% user\n');
  await item.filter({ hasText: /^\s*held\s*$/ }).waitFor();
  const hover = page.locator('.monaco-hover').filter({ visible: true }).first();
  await pointAt(page, item, hover.getByText('So far: 1 reply, 1.2k tokens'));
  await takeScreenshot(page, 'what-a-chat-costs');
});
