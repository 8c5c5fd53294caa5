import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { waitForText } from '../../../bridge.ts';
import { activeTab, button, dialog, focusEditor, titleButton, toast } from '../../../workbench/page.ts';
import { heldModel } from '../../heldModel.ts';
import { openChat, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const ui = uiSession();
const model = heldModel();

ui.test('typing `# %% assistant` and Enter runs the chat', async ({ page, evaluate }) => {
  await model.use(evaluate);
  await openChat({ page, evaluate }, 'Are you there?');
  await page.keyboard.press('Enter');
  await page.keyboard.type('# %% assistant');
  await waitForText(evaluate, '# %% assistant');
  await page.keyboard.press('Enter');
  await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();
  const reply = await model.next();
  reply.say('Yes.');
  reply.finish();
  await waitForText(evaluate, 'Are you there?\n\n# %% assistant\nYes.\n\n# %% user\n');
  await activeTab(page, 'are-you-there.chat.md').waitFor();
});

ui.test(
  'text typed above and below a streaming reply is kept, and so is the reply',
  async ({ page, evaluate }) => {
    await openChat({ page, evaluate }, 'Write slowly.');
    await page.keyboard.press('Shift+Enter');
    const reply = await model.next();
    reply.say('First line.\n\n');
    await waitForText(evaluate, 'First line.');
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    for (const [at, letter] of [...' And well, please.'].entries()) {
      await page.keyboard.type(letter);
      if (at % 4 === 0) reply.say(`Piece ${at}. `);
    }
    await page.keyboard.press('ControlOrMeta+End');
    for (const [at, letter] of [...'My next question'].entries()) {
      await page.keyboard.type(letter);
      if (at % 4 === 0) reply.say(`More ${at}. `);
    }
    await waitForText(evaluate, 'My next question');
    reply.say('Last line.');
    reply.finish();
    await waitForText(evaluate, 'Last line.\n\n');
    const text = await waitForText(evaluate, '# %% user\nWrite slowly. And well, please.\n');
    const pieces = [0, 4, 8, 12, 16].map((at) => `Piece ${at}. `).join('');
    const more = [0, 4, 8, 12].map((at) => `More ${at}. `).join('');
    assert.ok(text.includes(`First line.\n\n${pieces}${more}Last line.\n\n`), text);
    assert.match(text, /Last line\.\n\n# %% user\nMy next question/);
    assert.doesNotMatch(text, /filechat:/);
  },
);

ui.test('Undo stops a streaming reply and keeps a copy', async ({ page, evaluate }) => {
  await openChat({ page, evaluate }, 'Say something wrong.');
  const before = await waitForText(evaluate, 'wrong.');
  await focusEditor(page);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('Two and two is five.');
  await waitForText(evaluate, 'five.');
  await page.keyboard.press('ControlOrMeta+Z');
  await reply.closed;
  const told = toast(page, 'A copy was saved.');
  await told.waitFor();
  await takeScreenshot(page, 'recovery-copy');
  await waitForTextWithout(evaluate, 'assistant', before);
  await button(told, 'Open').click();
  await page.locator('.tab[data-resource-name^="recovered-"]').waitFor();
  const kept = await evaluate((vscode) =>
    vscode.workspace.textDocuments
      .filter(({ uri }) => uri.path.includes('/recovered/'))
      .map((document) => document.getText()),
  );
  assert.match(kept.join(), /Two and two is five\./);
});

ui.test(
  'text typed after a reply goes into the new turn, wherever the cursor was',
  async ({ page, evaluate, workspace }) => {
    const head = '---\nsystem: Be brief.\n---\n';
    await openAtTop({ page, evaluate, workspace }, 'top.chat.md', `${head}# %% user\nHello?\n`);
    await page.keyboard.press('Shift+Enter');
    const reply = await model.next();
    for (let piece = 0; piece < 60; piece += 1) reply.say(`Paragraph ${piece}.\n\n`);
    reply.finish();
    await waitForText(evaluate, 'Paragraph 59.\n\n# %% user\n');
    await titleButton(page, 'Run').waitFor();
    await page.keyboard.type('And now?');
    const text = await waitForText(evaluate, '# %% user\nAnd now?');
    await takeScreenshot(page, 'typed-after-a-reply');
    assert.ok(text.startsWith(head), text.slice(0, 100));
  },
);

async function openAtTop({ page, evaluate, workspace }: Ui, name: string, text: string): Promise<void> {
  writeFileSync(workspace.path(name), text);
  await evaluate(async (vscode, path) => {
    await vscode.window.showTextDocument(vscode.Uri.file(path));
  }, workspace.path(name));
  await focusEditor(page);
}

type Evaluate = Parameters<typeof waitForText>[0];

/** Resolves when the document in front is exactly this again. */
async function waitForTextWithout(evaluate: Evaluate, word: string, expected: string): Promise<void> {
  const text = await evaluate(
    (vscode, gone) =>
      new Promise<string>((resolve) => {
        const text = () => vscode.window.activeTextEditor?.document.getText() ?? '';
        const changed = vscode.workspace.onDidChangeTextDocument(() => look());
        const look = () => {
          if (text().includes(gone)) return;
          changed.dispose();
          resolve(text());
        };
        look();
      }),
    word,
  );
  assert.equal(text, expected);
}
