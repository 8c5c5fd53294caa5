// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Evaluate, waitForText } from '../../../bridge.ts';
import { createTemporaryFolder, waitFor } from '../../../process.ts';
import {
  button,
  codeLens,
  dialog,
  focusEditor,
  hasNote,
  toast,
  waitForNote,
} from '../../../workbench/page.ts';
import { answerCall, answerNotice, notice, waitingCall } from '../../consent.ts';
import { type HeldReply, heldModel } from '../../heldModel.ts';
import { openChat, takeInBothThemes, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const model = heldModel();
const ui = uiSession();

/** A new chat whose model calls these tools. */
async function askFor(session: Ui, question: string, ...calls: readonly [tool: string, args: object][]) {
  await openChat(session, question);
  await session.page.keyboard.press('Shift+Enter');
  await replyWith(await model.next(), ...calls);
}

async function replyWith(reply: HeldReply, ...calls: readonly [tool: string, args: object][]) {
  reply.say('I will do that.');
  for (const [index, [tool, args]] of calls.entries()) reply.call(tool, args, index);
  reply.finish('tool_calls');
}

async function endReply(text: string): Promise<string> {
  const reply = await model.next();
  reply.say(text);
  reply.finish();
  return reply.body;
}

function textOf(evaluate: Evaluate, name: string): Promise<string> {
  return evaluate((vscode, end) => {
    const found = vscode.workspace.textDocuments.find(({ uri }) => uri.path.endsWith(end));
    return found?.getText() ?? '';
  }, name);
}

ui.test('one question for all servers of the workspace, which Enter does not allow', async (session) => {
  const { page, evaluate, workspace } = session;
  await model.use(evaluate);
  const server = { command: 'node', args: ['${workspaceFolder}/../dist/sample-server.js'] };
  const other = { ...server, env: { TOKEN: '${input:token}', LEVEL: 'debug' } };
  const servers = { sample: server, other, remote: { url: 'http://127.0.0.1:1/mcp' } };
  writeFileSync(workspace.path('.vscode', 'mcp.json'), JSON.stringify({ servers }));
  await openChat(session, 'Which servers are there?');
  await page.keyboard.press('Shift+Enter');
  const question = dialog(page, 'This workspace wants to use 3 MCP servers.');
  await question.waitFor();
  const shown = await question.innerText();
  assert.match(
    shown,
    /“sample”[\s\S]*node \S*sample-server\.js[\s\S]*“other”[\s\S]*env: TOKEN=\$\{input:token\}/,
  );
  assert.match(shown, /env: LEVEL=debug[\s\S]*“remote”[\s\S]*http:\/\/127\.0\.0\.1:1\/mcp/);
  await takeInBothThemes(session, 'one-question-for-servers');
  const before = model.asked;
  // Nothing is sent after Cancel, and the question comes again.
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await codeLens(page, 'Run').waitFor();
  await page.keyboard.press('Shift+Enter');
  await question.waitFor();
  assert.equal(model.asked, before);
  await page.keyboard.press('Enter');
  await question.waitFor({ state: 'detached' });
  assert.doesNotMatch(await endReply('None.'), /sample__/);
  await waitForText(evaluate, 'None.\n\n# %% user\n');
  // A server that is added later asks for itself only.
  writeFileSync(
    workspace.path('.vscode', 'mcp.json'),
    JSON.stringify({ servers: { ...servers, sample: { ...server, env: { A: '1' } } } }),
  );
  await page.keyboard.type('And now?');
  await page.keyboard.press('Shift+Enter');
  await button(dialog(page, 'wants to start a program: the MCP server “sample”'), 'Allow').click();
  assert.match(await endReply('One.'), /sample__/);
  await waitForText(evaluate, 'One.\n\n# %% user\n');
});

ui.test('typing in another file answers no question, and a notification shows the call', async (session) => {
  const { page, evaluate, workspace } = session;
  writeFileSync(workspace.path('notes.md'), '');
  await openChat(session, 'How is the weather?');
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  await evaluate(async (vscode, path) => {
    await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
  }, workspace.path('notes.md'));
  await focusEditor(page);
  await replyWith(reply, ['sample__weather', { city: 'Paris' }]);
  const prose = 'Some prose with spaces. ';
  await page.keyboard.type(prose);
  const notice = toast(page, /sample\.weather asks for permission in the chat “new[-\d]*”\./);
  await notice.waitFor();
  await page.locator('.badge[aria-label*="1 tool call is waiting for permission"]').waitFor();
  await takeInBothThemes(session, 'permission-elsewhere');
  for (const key of ['Enter', 'Space', 'Enter']) await page.keyboard.press(key);
  await page.keyboard.type('More prose.');
  await waitFor('the notes', 10_000, async () =>
    (await textOf(evaluate, 'notes.md')) === `${prose}\n \nMore prose.` ? true : undefined,
  );
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  await notice.getByText('Show Chat').click();
  await notice.waitFor({ state: 'detached' });
  await takeInBothThemes(session, 'permission-in-the-chat');
  await answerCall(page, 'sample.weather');
  assert.match(await endReply('It is fine.'), /"role":"tool"/);
  await waitForText(evaluate, 'It is fine.\n\n# %% user\n');
  await page.locator('.badge[aria-label*="waiting for permission"]').waitFor({ state: 'detached' });
});

ui.test('four calls wait together, and each is answered on its own', async (session) => {
  const { page, evaluate } = session;
  const city = (name: string): [string, object] => ['sample__weather', { city: name }];
  await askFor(session, 'Compare them.', city('Paris'), city('Rome'), city('Oslo'), city('Riga'));
  await waitingCall(page, 'sample.weather').waitFor();
  await codeLens(page, 'Allow All (4)').waitFor();
  assert.equal(await page.locator('.codelens-decoration a', { hasText: 'Allow Once' }).count(), 4);
  await takeInBothThemes(session, 'four-calls-wait');
  // The cursor is below all of them, so the key answers the first one.
  await focusEditor(page);
  await answerCall(page, 'sample.weather');
  await waitForText(evaluate, '# %% tool sample.weather c1');
  await codeLens(page, 'Allow All (3)').waitFor();
  // The key answers the call at the cursor: the second one.
  await evaluate((vscode) => {
    const editor = vscode.window.activeTextEditor;
    const at = editor?.document.getText().indexOf('"Rome"') ?? 0;
    const caret = editor?.document.positionAt(at) ?? new vscode.Position(0, 0);
    if (editor) editor.selection = new vscode.Selection(caret, caret);
  });
  await focusEditor(page);
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('Backspace');
  await waitForText(evaluate, '# %% tool sample.weather c2\n> ⚠ The user declined the call.');
  await codeLens(page, 'Allow All (2)').waitFor();
  // The last one, which runs after the third.
  await codeLens(page, 'Allow Once').click();
  await waitForNote(page, 'Allowed · runs after c3');
  await takeScreenshot(page, 'allowed-before-its-turn');
  await answerCall(page, 'sample.weather');
  await waitForText(evaluate, '# %% tool sample.weather c4');
  await waitForNote(page, 'Tell the model why');
  assert.equal(await hasNote(page, 'Ask anything'), false);
  // Written after the cursor was moved.
  await waitForText(evaluate, 'title: "Compare them."');
  await page.keyboard.type('Rome is too hot.');
  await waitForText(evaluate, '# %% user\nRome is too hot.');
  await page.keyboard.press('Shift+Enter');
  assert.match(await endReply('Right.'), /The user declined the call\..*Rome is too hot\./);
  await waitForText(evaluate, 'Right.\n\n# %% user\n');
});

ui.test(
  'a file outside of the workspace is sent only after a question that takes no keys',
  async (session) => {
    const { page, evaluate } = session;
    const outside = createTemporaryFolder('outside');
    try {
      writeFileSync(join(outside.path, 'figures.txt'), 'forty-two');
      const question =
        /Chat “.*”: A link points outside this workspace\. Send the file \S*figures\.txt to the model\?/;
      const asked = model.asked;
      await openChat(session, `Read [these](${join(outside.path, 'figures.txt')}).`);
      await page.keyboard.press('Shift+Enter');
      await notice(page, question).waitFor();
      await takeInBothThemes(session, 'file-outside');
      for (const key of ['Enter', 'Space']) await page.keyboard.press(key);
      await notice(page, question).waitFor();
      assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
      await page.keyboard.press('Alt+M');
      await page.keyboard.press('x');
      await notice(page, question).waitFor({ state: 'hidden' });
      assert.equal(model.asked, asked);

      await page.keyboard.press('Shift+Enter');
      await answerNotice(page, question, 'Send File');
      assert.match(await endReply('Read.'), /forty-two/);
      await waitForText(evaluate, 'Read.\n\n# %% user\n');
    } finally {
      outside.dispose();
    }
  },
);
