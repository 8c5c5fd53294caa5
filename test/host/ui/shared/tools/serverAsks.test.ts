import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Evaluate, waitForText } from '../../../bridge.ts';
import { answer, focusEditor, pick, quickInput, quickPickRow, toast } from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { answerNotice, notice } from '../../consent.ts';
import { heldModel } from '../../heldModel.ts';
import { openChat, takeScreenshot, type Ui, uiSession } from '../../session.ts';

/** Hears of every address that somebody visits. */
const visited: string[] = [];
const site = createServer(({ url }, response) => {
  visited.push(url ?? '');
  response.end('Thank you.');
});
await new Promise<void>((resolve) => void site.listen(0, '127.0.0.1', resolve));
after(() => {
  site.closeAllConnections();
  site.close();
});
const address = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}/pay`;

const everything = join(
  checkout,
  'node_modules',
  '@modelcontextprotocol',
  'server-everything',
  'dist',
  'index.js',
);
const model = heldModel();
const ui = uiSession({
  settings: {
    'filechat.mcpServers': { everything: { command: process.execPath, args: [everything, 'stdio'] } },
    'filechat.approve': 'auto',
  },
});

/** Calls a tool in a new chat, and waits for the question of the server. What comes is in the chat. */
async function callTool(session: Ui, tool: string, args: object): Promise<void> {
  const { page, evaluate } = session;
  await openChat(session, 'Ask me.');
  await evaluate(
    (vscode, call) => {
      void vscode.commands.executeCommand('filechat.callTool', call);
    },
    { server: 'everything', tool, arguments: args },
  );
  // The notice of an earlier question may still be there.
  await waitForText(evaluate, '<!-- filechat:sent');
  await notice(page, 'The server “everything”').waitFor();
}

const TITLE = 'everything asks';
const FORM = 'The server “everything” asks:';
const step = (number: number) => `${TITLE} (${number}/13)`;

async function acceptAsItIs({ page }: Ui, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    await quickInput(page).getByText(step(number)).waitFor();
    await page.keyboard.press('Enter');
  }
}

ui.test('a form is asked field by field and sent after a review', async (session) => {
  const { page, evaluate } = session;
  await callTool(session, 'trigger-elicitation-request', {});
  const asked = /Chat “.*”: The server “everything” asks: “Please provide inputs for the following fields/;
  await notice(page, asked).waitFor();
  await takeScreenshot(page, 'server-asks');
  await notice(page, asked).getByText('Show Details', { exact: true }).click();
  await waitForText(evaluate, 'You can review all answers before they are sent.');
  await answerNotice(page, asked, 'Answer…');
  await answer(page, step(1), 'Ada Lovelace');
  await pick(page, step(2), 'Yes');
  await acceptAsItIs(session, 3);
  await answer(page, step(4), 'ada');
  await quickInput(page).getByText('name@example.com').first().waitFor();
  await answer(page, step(4), 'ada@example.com');
  await quickInput(page).getByText(step(5)).waitFor();
  await quickInput(page).getByRole('button', { name: 'Back' }).click();
  await acceptAsItIs(session, 4, 5);
  await answer(page, step(6), '1815-12-10');
  await acceptAsItIs(session, 7, 8);
  await pick(page, step(9), 'Phoebe');
  await quickInput(page).getByText(step(10)).waitFor();
  await quickPickRow(page, 'Piano').click();
  await takeScreenshot(page, 'server-asks-for-several');
  await page.keyboard.press('Enter');
  await pick(page, step(11), 'Wonder Woman');
  await acceptAsItIs(session, 12);
  await pick(page, step(13), 'Birds');
  await quickInput(page).getByText(`${TITLE}: your answers`).waitFor();
  await takeScreenshot(page, 'server-asks-last-look');
  await pick(page, `${TITLE}: your answers`, 'Send to everything');
  const text = await waitForText(evaluate, 'Raw result');
  const raw: unknown = JSON.parse(/Raw result: (\{[\s\S]*?\n\})/.exec(text)?.[1] ?? '');
  assert.deepEqual(raw, {
    action: 'accept',
    content: {
      name: 'Ada Lovelace',
      check: true,
      firstLine: 'It was a dark and stormy night.',
      email: 'ada@example.com',
      birthdate: '1815-12-10',
      integer: 42,
      number: 3.14,
      untitledSingleSelectEnum: 'Phoebe',
      untitledMultipleSelectEnum: ['Guitar', 'Piano'],
      titledSingleSelectEnum: 'hero-3',
      titledMultipleSelectEnum: ['fish-1'],
      legacyTitledEnum: 'pet-3',
    },
  });
});

ui.test('a URL is shown in full before it is opened', async (session) => {
  const { page, evaluate } = session;
  await callTool(session, 'trigger-url-elicitation', {
    url: address(),
    message: 'Pay here.',
    errorPath: false,
  });
  const asked = `wants you to open ${address()} in your browser`;
  await notice(page, asked).waitFor();
  await takeScreenshot(page, 'server-asks-to-open');
  assert.deepEqual(visited, []);
  const opened = page.context().waitForEvent('page');
  await answerNotice(page, asked, 'Open');
  await (await opened).close();
  await waitForText(evaluate, 'User completed the URL elicitation flow');
});

ui.test('an unsafe URL is not offered', async (session) => {
  const { page, evaluate } = session;
  await openChat(session, 'Ask me.');
  const outcome = await evaluate(
    (vscode, call) => vscode.commands.executeCommand<{ readonly ok: boolean }>('filechat.callTool', call),
    {
      server: 'everything',
      tool: 'trigger-url-elicitation',
      arguments: { url: 'http://169.254.169.254/latest', message: 'Look.', errorPath: false },
    },
  );
  assert.equal(outcome.ok, true, JSON.stringify(outcome));
  await waitForText(evaluate, 'User declined to open the URL');
  await toast(page, 'asked you to open an address that is not allowed').waitFor();
});

const sampling = (session: Ui) =>
  callTool(session, 'trigger-sampling-request', { prompt: 'Which colour?', maxTokens: 20 });

ui.test('a sampling request and its response can be edited before they are sent', async (session) => {
  const { page, evaluate } = session;
  await model.use(evaluate);
  await sampling(session);
  const asked = /The server “everything” wants to send a request to your model held\. “.*Which colour\?/;
  await notice(page, asked).waitFor();
  await takeScreenshot(page, 'server-asks-the-model');
  assert.equal(model.asked, 0);
  await answerNotice(page, asked, 'Show and Edit');
  await notice(page, 'to your model, with your changes').waitFor();
  await replaceText(evaluate, 'Which colour?', 'Which animal?');
  await takeScreenshot(page, 'server-asks-the-model-edited');
  await answerNotice(page, 'to your model, with your changes', 'Send');
  const reply = await model.next();
  const { messages, max_tokens: maxTokens } = JSON.parse(reply.body);
  assert.match(JSON.stringify(messages), /You are a helpful test server[\s\S]*Which animal\?/);
  assert.equal(maxTokens, 20);
  reply.say('A cat.');
  reply.finish();
  const answered = /Send this response to the server “everything”\? “.*A cat\./;
  await notice(page, answered).waitFor();
  await takeScreenshot(page, 'server-gets-an-answer');
  await answerNotice(page, answered, 'Show and Edit');
  await notice(page, 'Send the response to the server “everything”, with your changes').waitFor();
  await replaceText(evaluate, 'A cat.', 'A dog.');
  await answerNotice(page, 'Send the response to the server', 'Send Response');
  const text = await waitForText(evaluate, 'LLM sampling result');
  assert.match(text, /"text": "A dog\."/);
  assert.match(text, /"stopReason": "endTurn"/);
});

ui.test('“Always” applies to this server until the window closes', async (session) => {
  const { page, evaluate } = session;
  await sampling(session);
  await answerNotice(page, 'wants to send a request to your model', 'Always Send for This Server');
  const reply = await model.next();
  reply.say('Blue.');
  reply.finish();
  await waitForText(evaluate, '"text": "Blue."');
  assert.equal(await toast(page, 'Send this response').count(), 0);
});

ui.test('a question is not answered by typing, and ends with its run', async (session) => {
  const { page, evaluate } = session;
  await callTool(session, 'trigger-elicitation-request', {});
  await focusEditor(page);
  await page.keyboard.press('ControlOrMeta+End');
  for (const key of ['y', 'Enter', 'Space', 'Tab']) await page.keyboard.press(key);
  await page.keyboard.type('Still here.');
  await waitForText(evaluate, 'Still here.');
  await notice(page, FORM).waitFor();
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  assert.equal(await quickInput(page).count(), 0);
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.stop').then(() => null));
  await notice(page, FORM).waitFor({ state: 'hidden' });
});

/** Edits the document, not the editor: VS Code may replace the editor of a document at any time. */
async function replaceText(evaluate: Evaluate, old: string, text: string): Promise<void> {
  await evaluate(
    async (vscode, from, to) => {
      const document = vscode.workspace.textDocuments.find(
        (each) => each.isUntitled && each.getText().includes(from),
      );
      if (!document) throw new Error(`“${from}” is not in an unsaved document.`);
      const at = document.getText().indexOf(from);
      const range = new vscode.Range(document.positionAt(at), document.positionAt(at + from.length));
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, range, to);
      if (!(await vscode.workspace.applyEdit(edit))) throw new Error('The edit was not applied.');
    },
    old,
    text,
  );
}
