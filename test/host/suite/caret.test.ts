/** Where typed text goes after a run: the user began with the caret at the very top. */
import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { end, sendAll, words } from '../../integration/helpers/wireServer.ts';
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
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

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
    // The answer comes behind all that showing the tab has caused.
    await vscode.commands.executeCommand('setContext', 'filechat.test', true);
    assert.deepEqual(editor.selection.active, place.active);
  });
});

function endOf(document: vscode.TextDocument): vscode.Position {
  return document.positionAt(document.getText().length);
}
