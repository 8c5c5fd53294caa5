/** Where typed text goes after a run: the user began with the caret at the very top. */
import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { end, send, sendAll, words } from '../../integration/helpers/wireServer.ts';
import { until } from '../../kit/until.ts';
import { HI, LiveModel, run } from './kit/liveModel.ts';
import { holds, openChat, useSampleServer } from './kit/workspace.ts';

const CHAT = `---\nservers: []\n---\n${HI}`;
const TOP = new vscode.Selection(0, 0, 0, 0);

suite('the cursor after a run', () => {
  const model = new LiveModel();
  suiteSetup(async () => {
    await useSampleServer();
    await model.start();
  });
  suiteTeardown(() => model.dispose());
  teardown(async () => {
    await showLenses(undefined);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  async function openAtTop(name: string, text = CHAT) {
    const document = await openChat(name, text);
    const editor = await vscode.window.showTextDocument(document, { selection: TOP });
    return { document, editor };
  }

  const runs: Record<string, { text?: string; act(document: vscode.TextDocument): PromiseLike<unknown> }> = {
    'a reply': {
      async act(document) {
        model.answer = (asked) => sendAll(asked, words('One two.'), end());
        await run(document.uri);
      },
    },
    'a tool call': {
      text: '# %% user\n```tool_call mine.photo\n```\n',
      act: (document) => run(document.uri),
    },
    'an error': {
      async act(document) {
        model.answer = ({ response }) => response.writeHead(400).end('{"error":{"message":"No."}}');
        await run(document.uri);
      },
    },
    'a stop': {
      async act(document) {
        model.answer = (asked) => asked.response.writeHead(200).write(words('One two'));
        const running = run(document.uri);
        await holds(document, 'One two');
        await vscode.commands.executeCommand('filechat.stop', { uri: document.uri });
        await running;
      },
    },
  };
  for (const [name, { text, act }] of Object.entries(runs)) {
    test(`${name}: the cursor is at the end, in the user turn`, async () => {
      const { document, editor } = await openAtTop(`caret-${name.replaceAll(' ', '-')}.chat.md`, text);
      await act(document);
      assert.deepEqual(editor.selection.active, endOf(document));
      const turns = document.getText().match(/^# %% .*$/gm);
      assert.equal(turns?.at(-1), '# %% user');
    });
  }

  test('the cursor moves in both editors of the chat', async () => {
    const { document, editor } = await openAtTop('caret-two.chat.md');
    const beside = { viewColumn: vscode.ViewColumn.Beside, selection: TOP };
    const other = await vscode.window.showTextDocument(document, beside);
    model.answer = (asked) => sendAll(asked, words('One two.'), end());
    await run(document.uri);
    for (const each of [editor, other]) assert.deepEqual(each.selection.active, endOf(document));
  });

  test('text typed in the other editor of the chat is kept, and so is the reply', async () => {
    const { document, running, asked } = await model.openHalf('caret-typed.chat.md', CHAT);
    const { line } = document.positionAt(document.getText().indexOf('Hi'));
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      selection: new vscode.Range(line, 2, line, 2),
    });
    await vscode.commands.executeCommand('type', { text: ' there' });
    sendAll(asked, words(' three.'), end());
    assert.equal((await running).ok, true);
    const question = CHAT.replace('Hi', 'Hi there');
    assert.equal(document.getText(), `${question}\n# %% assistant\nOne two three.\n\n# %% user\n`);
  });

  /** A chat that is longer than its editor shows, while a reply has begun at its end. */
  async function openLong(name: string) {
    const lines = Array.from({ length: 100 }, (_, at) => `Line ${at + 1}`).join('\n\n');
    const text = `${CHAT}${lines}\n`;
    model.answer = (asked) => void send(asked, words('Begun.'));
    const document = await openChat(name, text);
    const at = document.positionAt(text.length);
    const editor = await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    const running = run(document.uri);
    await holds(document, 'Begun.');
    const paragraphs = Array.from({ length: 40 }, (_, number) => words(`\n\nParagraph ${number}.`));
    return { document, editor, running, paragraphs, asked: model.last };
  }

  test('the end of a streaming reply stays visible', async () => {
    const { document, editor, running, paragraphs, asked } = await openLong('caret-follow.chat.md');
    await send(asked, ...paragraphs);
    await holds(document, 'Paragraph 39.');
    const last = () => document.lineCount - 1;
    await until(() => editor.visibleRanges.at(-1)?.end.line === last());
    sendAll(asked, end());
    await running;
    await until(() => editor.visibleRanges.at(-1)?.end.line === last());
  });

  test('a streaming reply does not scroll a user who reads above', async () => {
    // When lenses above the view come or go, VS Code moves the text by the height of their row, at some later time.
    await showLenses(false);
    const { document, editor, running, paragraphs, asked } = await openLong('caret-above.chat.md');
    const top = () => editor.visibleRanges[0]?.start.line ?? -1;
    await until(() => top() > 100);
    const bottom = top();
    await vscode.commands.executeCommand('editorScroll', { to: 'up', by: 'line', value: 60 });
    await until(() => top() < bottom - 50);
    await untilTold();
    const before = top();
    await send(asked, ...paragraphs);
    await holds(document, 'Paragraph 39.');
    sendAll(asked, end());
    await running;
    await untilTold();
    assert.equal(top(), before);
  });

  function showLenses(shown: false | undefined): Thenable<void> {
    const { Global } = vscode.ConfigurationTarget;
    return vscode.workspace.getConfiguration('editor').update('codeLens', shown, Global);
  }

  /** The window responds after it has reported everything that happened before. */
  async function untilTold(): Promise<void> {
    await vscode.commands.executeCommand('setContext', 'filechat.test', true);
  }

  /** Runs the chat while another file is in front of it. */
  async function runInBackground(name: string): Promise<vscode.TextDocument> {
    const { document } = await openAtTop(name);
    model.answer = (asked) => asked.response.writeHead(200).write(words('One two'));
    const running = run(document.uri);
    await holds(document, 'One two');
    await openChat('caret-other.md', 'Another file.\n');
    sendAll(model.last, words('.'), end());
    assert.equal((await running).ok, true);
    return document;
  }

  test('the cursor moves in a background tab when it is shown', async () => {
    const document = await runInBackground('caret-background.chat.md');
    const moved = new Promise<void>((resolve) => {
      const subscription = vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => {
        if (textEditor.document !== document || !selections[0]?.active.isEqual(endOf(document))) return;
        subscription.dispose();
        resolve();
      });
    });
    await vscode.window.showTextDocument(document);
    await moved;
  });

  test('a background tab that is revealed at a position keeps that position', async () => {
    const document = await runInBackground('caret-navigation.chat.md');
    const place = new vscode.Selection(4, 1, 4, 1);
    const editor = await vscode.window.showTextDocument(document, { selection: place });
    // The response comes after everything that showing the tab has caused.
    await untilTold();
    assert.deepEqual(editor.selection.active, place.active);
  });
});

function endOf(document: vscode.TextDocument): vscode.Position {
  return document.positionAt(document.getText().length);
}
