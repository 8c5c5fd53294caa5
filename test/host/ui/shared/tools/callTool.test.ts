import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { waitForText } from '../../../bridge.ts';
import {
  activeTab,
  answer,
  button,
  dialog,
  fillQuickInput,
  focusEditor,
  imageWidth,
  pick,
  quickInput,
  quickPickRow,
  runCommand,
  showCommands,
  webview,
} from '../../../workbench/page.ts';
import { answerCall, answerNotice, notice, waitingCall } from '../../consent.ts';
import { takeInBothThemes, takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession();
const PNG_HEAD = '89504e470d0a1a0a';

ui.test('the workbench opens the workspace, and the palette offers a new chat', async (session) => {
  const { page, evaluate, workspace } = session;
  const folder = await evaluate((vscode) => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
  assert.equal(folder, workspace.folder);
  await showCommands(page, 'Filechat: New Chat');
  await quickPickRow(page, 'Filechat: New Chat').waitFor();
  await page.keyboard.press('Escape');
});

ui.test(
  'a tool called from the palette shows its image in the editor, on disk and in the preview',
  async ({ page, evaluate, workspace }) => {
    await runCommand(page, 'Filechat: New Chat');
    await activeTab(page, 'new.chat.md').waitFor();
    await focusEditor(page);

    await runCommand(page, 'Filechat: Call Tool');
    const server = dialog(page, 'This workspace wants to start a program: the MCP server “sample”.');
    await server.getByText(/sample-server\.js/).waitFor();
    await takeScreenshot(page, 'consent-to-a-server');
    await button(server, 'Allow').click();

    await quickInput(page).getByText('Draw a chart', { exact: true }).waitFor();
    await takeScreenshot(page, 'pick-a-tool');
    await pick(page, 'Which tool?', 'chart');
    await answer(page, 'chart (1/4)', 'Sales by quarter');
    await answer(page, 'chart (2/4)', '[3, 5');
    await quickInput(page)
      .getByText(/not valid JSON|JSON/)
      .first()
      .waitFor();
    await takeScreenshot(page, 'wrong-argument');
    await answer(page, 'chart (2/4)', '[3, 5, 8, 13]');
    await answer(page, 'chart (3/4)', '');
    await pick(page, 'chart (4/4)', 'bars');

    await waitingCall(page, 'sample.chart').waitFor();
    await takeScreenshot(page, 'consent-to-a-tool');
    await answerCall(page, 'sample.chart');

    const text = await waitForText(evaluate, 'Tool generated image 1');
    const path = /^!\[Tool generated image 1\]\((cmdassets\/tool-image-\d{8}-\d{6}-\w{8,}-1\.png)\)$/m.exec(
      text,
    )?.[1];
    assert.ok(path, text);
    assert.match(
      text,
      /^```tool_call sample\.chart c1\n\{"title": "Sales by quarter", "values": \[3, 5, 8, 13\], "style": "bars"\}\n```$/m,
    );
    assert.equal(readFileSync(workspace.path(path)).subarray(0, 8).toString('hex'), PNG_HEAD);

    await runCommand(page, 'Markdown: Open Preview to the Side');
    const picture = webview(page, 'vscode.markdown-language-features').getByAltText('Image 1', {
      exact: true,
    });
    assert.equal(await imageWidth(picture), 640);
    await takeScreenshot(page, 'preview');
  },
);

ui.test('each argument is asked by its schema, with its default and Back', async ({ page, evaluate }) => {
  await focusEditor(page);
  await runCommand(page, 'Filechat: Call Tool');
  await quickInput(page).getByText('Take the tour', { exact: true }).waitFor();
  // Our own tools are there, below those of the servers.
  await quickPickRow(page, 'tour').waitFor();
  assert.match(await quickInput(page).locator('.monaco-list-row[data-index="0"]').innerText(), /tour/);
  await fillQuickInput(page, 'Which tool?', 'list_assets');
  await quickPickRow(page, 'list_assets').waitFor();
  await answer(page, 'Which tool?', 'Order a cake');
  await answer(page, 'order (1/7)', 'Ada');
  await pick(page, 'order (2/7)', 'lemon');
  await answer(page, 'order (3/7)', 'two');
  await quickInput(page)
    .getByText(/layers\)?: Type a whole number/)
    .first()
    .waitFor();
  const box = quickInput(page).locator('.quick-input-box input');
  await takeScreenshot(page, 'wrong-number');
  await quickInput(page).getByRole('button', { name: 'Back' }).click();
  await pick(page, 'order (2/7)', 'chocolate');
  // What was typed is still there.
  await quickInput(page).getByText('order (3/7)').waitFor();
  assert.equal(await box.inputValue(), 'two');
  await answer(page, 'order (3/7)', '3');
  // An object is asked as JSON; the box holds an example of the right shape, which is not an answer.
  await quickInput(page).getByText('order (4/7)').waitFor();
  assert.match(await box.inputValue(), /^\{"street": ?"[^"]*", ?"city": ?"[^"]*"/);
  await page.keyboard.press('Enter');
  await quickInput(page).getByText('This is only an example. Replace its values.').waitFor();
  await takeScreenshot(page, 'json-argument');
  await answer(page, 'order (4/7)', '{"street": "1 Analytical Way", "city": 5}');
  await quickInput(page)
    .getByText(/address\.city: The tool expects another type/)
    .waitFor();
  await takeScreenshot(page, 'wrong-nested-argument');
  assert.equal(await box.inputValue(), '{"street": "1 Analytical Way", "city": 5}');
  await answer(page, 'order (4/7)', '{"street": "1 Analytical Way", "city": "London"}');
  await pick(page, 'order (5/7)', 'Yes');
  // The default of a number stands in its box already.
  await quickInput(page).getByText('order (6/7)').waitFor();
  assert.equal(await box.inputValue(), '1.5');
  await page.keyboard.press('Enter');
  await answer(page, 'order (7/7)', '["cherries"]');
  await answerCall(page, 'sample.order');
  const text = await waitForText(evaluate, '# %% tool sample.order c2');
  const written = /```tool_call sample\.order c2\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  assert.deepEqual(JSON.parse(written), {
    name: 'Ada',
    flavour: 'chocolate',
    layers: 3,
    address: { street: '1 Analytical Way', city: 'London' },
    gift: true,
    kilograms: 1.5,
    toppings: ['cherries'],
  });
});

/** Not before the tools are listed: until then, Enter chooses nothing. */
async function chooseOrder(page: Page): Promise<void> {
  await quickInput(page).getByText('Take the tour', { exact: true }).waitFor();
  await answer(page, 'Which tool?', 'Order a cake');
}

ui.test('the last arguments are offered again, to use or to change', async (session) => {
  const { page, evaluate } = session;
  await focusEditor(page);
  await runCommand(page, 'Filechat: Call Tool');
  await chooseOrder(page);
  await quickPickRow(page, 'Use Last Arguments').waitFor();
  await quickInput(page)
    .getByText(/name: Ada.*flavour: chocolate.*layers: 3/)
    .waitFor();
  await takeInBothThemes(session, 'last-arguments');
  await pick(page, 'Which arguments?', 'Change Last Arguments…');
  const box = quickInput(page).locator('.quick-input-box input');
  await quickInput(page).getByText('order (1/7)').waitFor();
  assert.equal(await box.inputValue(), 'Ada');
  // Back leads to the choice, and from there to the tools.
  await quickInput(page).getByRole('button', { name: 'Back' }).click();
  await quickPickRow(page, 'Use Last Arguments').waitFor();
  await quickInput(page).getByRole('button', { name: 'Back' }).click();
  await chooseOrder(page);
  await pick(page, 'Which arguments?', 'Use Last Arguments');
  await answerCall(page, 'sample.order');
  const text = await waitForText(evaluate, '# %% tool sample.order c3');
  const [, first, second] =
    /```tool_call sample\.order c2\n([\s\S]*?)```[\s\S]*```tool_call sample\.order c3\n([\s\S]*?)```/.exec(
      text,
    ) ?? [];
  assert.equal(second, first);
});

ui.test('a long text is written in an editor', async ({ page, evaluate }) => {
  await focusEditor(page);
  await runCommand(page, 'Filechat: Call Tool');
  await chooseOrder(page);
  await pick(page, 'Which arguments?', 'Enter New Arguments…');
  await quickInput(page).getByText('order (1/7)').waitFor();
  await quickInput(page).getByRole('button', { name: 'Write in an Editor…' }).click();
  await notice(page, 'Write the value of “name” in the editor').waitFor();
  await page.locator('.tab.active', { hasText: 'Untitled' }).waitFor();
  await focusEditor(page);
  await page.keyboard.type('Ada\nLovelace');
  await takeScreenshot(page, 'long-argument');
  await answerNotice(page, 'Write the value of “name”', 'Use Text');
  await quickInput(page).getByText('order (2/7)').waitFor();
  await quickInput(page).getByRole('button', { name: 'Back' }).click();
  await quickInput(page).getByText('order (1/7)').waitFor();
  const box = quickInput(page).locator('.quick-input-box input');
  assert.equal(await box.inputValue(), 'Ada Lovelace');
  await page.keyboard.press('Escape');
  assert.equal(
    await evaluate((vscode) => vscode.workspace.textDocuments.some(({ isUntitled }) => isUntitled)),
    false,
  );
});
