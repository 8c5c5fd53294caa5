import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { until } from '../../../../kit/until.ts';
import { waitForText } from '../../../bridge.ts';
import { activeTab, button, dialog, focusEditor, runCommand, webview } from '../../../workbench/page.ts';
import { heldModel } from '../../heldModel.ts';
import { takeInBothThemes, uiSession } from '../../session.ts';

const ui = uiSession();
const model = heldModel();
const PREVIEW = 'vscode.markdown-language-features';

async function answer(words: string): Promise<void> {
  const reply = await model.next();
  reply.say(words);
  reply.finish();
}

ui.test('a new chat is named after its first question when its reply begins', async (session) => {
  const { page, evaluate, workspace } = session;
  await model.use(evaluate);
  writeFileSync(workspace.path('plot-the-sales.chat.md'), '# %% user\nAnother one\n');
  await runCommand(page, 'Filechat: New Chat');
  await activeTab(page, 'new.chat.md').waitFor();
  await focusEditor(page);
  await page.keyboard.type('Plot the *sales*!');
  await page.keyboard.press('Shift+Enter');
  await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();
  await answer('Here they are.');
  await activeTab(page, 'plot-the-sales-2.chat.md').waitFor();
  await waitForText(evaluate, 'Here they are.\n\n# %% user\n');
  assert.equal(existsSync(workspace.path('new.chat.md')), false);
  const other = readFileSync(workspace.path('plot-the-sales.chat.md'), 'utf8');
  assert.equal(other, '# %% user\nAnother one\n');
  // The focus and the caret are where they were.
  await page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  await page.keyboard.type('More');
  await waitForText(evaluate, 'Here they are.\n\n# %% user\nMore');
});

ui.test('the preview of a chat follows its new name', async (session) => {
  const { page, evaluate } = session;
  await runCommand(page, 'Filechat: New Chat');
  await activeTab(page, 'new.chat.md').waitFor();
  await focusEditor(page);
  await page.keyboard.type('Was kostet Köln?');
  await waitForText(evaluate, 'Was kostet Köln?');
  await evaluate((vscode) => vscode.commands.executeCommand('markdown.showPreviewToSide'));
  await webview(page, PREVIEW).getByText('Was kostet').waitFor();
  await focusEditor(page);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('Nichts.\n\nOder doch: ');
  await waitForText(evaluate, 'filechat:writing');
  // The line is for programs.
  const mark = page.locator('.view-line', { hasText: 'filechat:writing' });
  await until(async () => (await mark.filter({ visible: true }).locator('span:visible').count()) === 0);
  await takeInBothThemes(session, 'naming-writing');
  reply.say('alles.');
  reply.finish();
  await activeTab(page, 'was-kostet-köln.chat.md').waitFor();
  await waitForText(evaluate, 'alles.\n\n# %% user\n');
  await page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  // The preview follows.
  await page.locator('.tab', { hasText: 'Preview was-kostet-köln.chat.md' }).waitFor();
  await webview(page, PREVIEW).getByText('Oder doch: alles.').waitFor();
  await takeInBothThemes(session, 'naming-preview');
  await page.keyboard.type('Und');
  await webview(page, PREVIEW).getByText('Und', { exact: true }).waitFor();
});
