import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { waitForText } from '../../../bridge.ts';
import {
  activeTab,
  button,
  dialog,
  focusEditor,
  runCommand,
  titleButton,
  toast,
} from '../../../workbench/page.ts';
import { heldModel } from '../../heldModel.ts';
import { openChat, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const ui = uiSession({ settings: { 'files.insertFinalNewline': true } });
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

ui.test('a final newline added on save runs nothing', async ({ page, evaluate }) => {
  await openChat({ page, evaluate }, 'Do not answer yet.');
  await page.keyboard.press('Enter');
  await page.keyboard.type('# %% assistant');
  await waitForText(evaluate, '# %% assistant');
  await page.keyboard.press('ControlOrMeta+S');
  await waitForText(evaluate, '# %% assistant\n');
  await activeTab(page, 'new.chat.md').and(page.locator(':not(.dirty)')).waitFor();
  // A run that had begun would refuse this one.
  const ran = evaluate((vscode) => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return vscode.commands.executeCommand<{ ok: boolean; error?: string }>('filechat.run', { uri });
  });
  const reply = await model.next();
  reply.say('Now.');
  reply.finish();
  const { ok, error } = await ran;
  assert.equal(ok, true, error);
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

ui.test('one Undo removes a whole reply, and Redo restores it', async ({ page, evaluate }) => {
  await openChat({ page, evaluate }, 'Say something long.');
  const before = await waitForText(evaluate, 'long.');
  await focusEditor(page);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  for (const word of ['One ', 'two ', 'three.']) {
    reply.say(word);
    await waitForText(evaluate, word.trim());
  }
  reply.finish();
  await waitForText(evaluate, 'three.\n\n# %% user\n');
  await waitForText(evaluate, 'title:');
  await page.keyboard.press('ControlOrMeta+Z');
  await waitForTextWithout(evaluate, 'assistant', before);
  await page.keyboard.press('ControlOrMeta+Shift+Z');
  await waitForText(evaluate, 'One two three.\n\n# %% user\n');
});

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

ui.test('a streaming reply does not scroll a user who reads above', async ({ page, evaluate }) => {
  const lines = Array.from({ length: 200 }, (_, at) => `Line ${at + 1}`).join('\n\n');
  await openChat({ page, evaluate }, lines);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('Begun.');
  await waitForText(evaluate, 'Begun.');
  const firstLine = () =>
    evaluate((vscode) => vscode.window.activeTextEditor?.visibleRanges[0]?.start.line ?? -1);
  await page.locator('.editor-group-container.active .monaco-editor').hover();
  const end = await firstLine();
  // The wheel is told to the extension host a moment later, so it is turned until that is seen there.
  while ((await firstLine()) > end - 40) await page.mouse.wheel(0, -400);
  const before = await firstLine();
  for (let piece = 0; piece < 20; piece += 1) reply.say(`\n\nParagraph ${piece}.`);
  await waitForText(evaluate, 'Paragraph 19.');
  reply.finish();
  await waitForText(evaluate, 'Paragraph 19.\n\n# %% user\n');
  // The last turn of the wheel may still be on its way; following would have gone on for eighty lines.
  assert.ok(Math.abs((await firstLine()) - before) < 20);
});

ui.test('the end of a streaming reply stays visible', async ({ page, evaluate }) => {
  const lines = Array.from({ length: 60 }, (_, at) => `Line ${at + 1}`).join('\n\n');
  await openChat({ page, evaluate }, lines);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  for (let piece = 0; piece < 40; piece += 1) reply.say(`Paragraph ${piece}.\n\n`);
  await waitForText(evaluate, 'Paragraph 39.');
  reply.finish();
  await waitForText(evaluate, 'Paragraph 39.\n\n# %% user\n');
  const { seen, last } = await evaluate((vscode) => {
    const editor = vscode.window.activeTextEditor;
    return { seen: editor?.visibleRanges.at(-1)?.end.line, last: (editor?.document.lineCount ?? 0) - 1 };
  });
  assert.equal(seen, last);
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

ui.test('a reply is written to the file after its tab is closed', async ({ page, evaluate, workspace }) => {
  const question = '# %% user\nGo on without me.\n';
  await openAtTop({ page, evaluate, workspace }, 'closed.chat.md', question);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('One ');
  await waitForText(evaluate, 'One');
  const written = savedText(evaluate, 'One two');
  void evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));
  await button(dialog(page, 'Do you want to save the changes'), 'Save').click();
  await page.locator('.tab[data-resource-name="closed.chat.md"]').waitFor({ state: 'detached' });
  reply.say('two ');
  assert.match(await written, /One two ?\n<!-- filechat:writing/);
  reply.say('three.');
  const ended = savedText(evaluate, 'three.\n\n# %% user\n');
  reply.finish();
  await ended;
  assert.match(readFileSync(workspace.path('closed.chat.md'), 'utf8'), /One two three\.\n\n# %% user\n$/);
});

ui.test(
  'two editors show one reply, and typing in the other one loses nothing',
  async ({ page, evaluate }) => {
    await openChat({ page, evaluate }, 'Seen twice.');
    await runCommand(page, 'View: Split Editor Right');
    await page.locator('.editor-group-container').nth(1).locator('.monaco-editor').waitFor();
    await focusEditor(page);
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Shift+Enter');
    const reply = await model.next();
    reply.say('Said ');
    await waitForText(evaluate, 'Said');
    await page.keyboard.press('ControlOrMeta+2');
    await page.locator('.editor-group-container.active').nth(0).locator('.monaco-editor.focused').waitFor();
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.type(' Typed once.');
    reply.say('once.');
    reply.finish();
    const text = await waitForText(evaluate, '# %% assistant\nSaid once.\n\n# %% user\n');
    assert.match(text, /Seen twice\. Typed once\.\n/);
    assert.equal(text.match(/Said once/g)?.length, 1);
    assert.doesNotMatch(text, /filechat:/);
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

/** Resolves to what is saved once it holds these words. */
function savedText(evaluate: Evaluate, words: string): Promise<string> {
  return evaluate(
    (vscode, wanted) =>
      new Promise<string>((resolve) => {
        const saved = vscode.workspace.onDidSaveTextDocument((document) => {
          if (!document.getText().includes(wanted)) return;
          saved.dispose();
          resolve(document.getText());
        });
      }),
    words,
  );
}

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
