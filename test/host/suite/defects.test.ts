import assert from 'node:assert/strict';
import { existsSync, promises, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { end, sendAll, words } from '../../integration/helpers/wireServer.ts';
import { HI, LiveModel, run } from './kit/liveModel.ts';
import { inWorkspace, openChat, setSetting, useSampleServer } from './kit/workspace.ts';

const CALL = '```tool_call spy.look c1\n{}\n```\n';
const roles = (chat: string) => parseChat(chat).turns.map(({ role }) => role);

/** A server that leaves a file behind as soon as it is started. */
const SPY = 'require("node:fs").writeFileSync(process.argv[1], "")';

suite('defects of chat.md, in the editor', () => {
  const model = new LiveModel();
  // The editor may still hold the text of a file that was open before, so every chat has a name of its own.
  let others = 0;
  const trace = () => inWorkspace('spy-was-started').fsPath;
  suiteSetup(async () => {
    await model.start();
    await setSetting('mcpServers', { spy: { command: 'node', args: ['-e', SPY, trace()] } });
  });
  suiteTeardown(async () => {
    rmSync(trace(), { force: true });
    await model.dispose();
    await useSampleServer();
  });
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  /** What was begun before has ended when this has: then nobody has been asked. */
  async function runSomethingElse(): Promise<void> {
    model.answer = (asked) => sendAll(asked, words('Hello.'), end());
    others += 1;
    const document = await openChat(`else${others}.chat.md`, `---\nservers: []\n---\n${HI}`);
    assert.equal((await run(document.uri)).ok, true);
  }

  for (const [name, ending] of Object.entries({ call: CALL, nothing: '' })) {
    test(`chat.md defect 1: opening a chat that ends in an assistant’s turn (${name}), and undo, run nothing`, async () => {
      const before = model.asked.length;
      const text = `${HI}\n# %% assistant\n${ending}`;
      const document = await openChat(`pending-${name}.chat.md`, text);
      const editor = await vscode.window.showTextDocument(document);
      const bottom = document.positionAt(text.length);
      await editor.edit((edit) => edit.insert(bottom, 'word'));
      await vscode.commands.executeCommand('undo');
      assert.equal(document.getText(), text);
      await editor.edit((edit) => edit.delete(new vscode.Range(new vscode.Position(3, 0), bottom)));
      await vscode.commands.executeCommand('undo');
      assert.equal(document.getText(), text);
      await runSomethingElse();
      assert.equal(document.getText(), text);
      assert.deepEqual([model.asked.length - before, existsSync(trace())], [1, false]);
    });
  }

  test('chat.md defect 8: text typed below a streaming reply is kept', async () => {
    const { document, running, asked } = await model.openHalf(
      'under.chat.md',
      `---\nservers: []\n---\n${HI}`,
    );
    const change = new vscode.WorkspaceEdit();
    change.insert(document.uri, document.positionAt(document.getText().length), '\n# %% user\nMine');
    assert.equal(await vscode.workspace.applyEdit(change), true);
    sendAll(asked, words(' three.'), end());
    assert.equal((await running).ok, true);
    assert.match(document.getText(), /# %% assistant\nOne two three\.\n\n# %% user\nMine$/);
  });

  test('chat.md defect 9: a reply streams past its first line in a document with CRLF', async () => {
    model.answer = (asked) => sendAll(asked, words('One\n\n'), words('Two\nThree'), end());
    const text = `---\nservers: []\n---\n${HI}`.replaceAll('\n', '\r\n');
    const document = await openChat('crlfReply.chat.md', text);
    assert.equal((await run(document.uri)).ok, true);
    await document.save();
    const saved = readFileSync(document.uri.fsPath, 'utf8');
    assert.ok(saved.includes('# %% assistant\r\nOne\r\n\r\nTwo\r\nThree\r\n\r\n# %% user\r\n'), saved);
    assert.equal(saved.replaceAll('\r\n', '').includes('\n'), false);
  });

  test('chat.md defect 16: typing does not read the attachments on every keystroke', async () => {
    const notes = inWorkspace('notes.txt');
    await vscode.workspace.fs.writeFile(notes, new TextEncoder().encode('Blue is the word.'));
    const document = await openChat(
      'typed.chat.md',
      `---\nservers: []\n---\n# %% user\n[notes](notes.txt)\n`,
    );
    const editor = await vscode.window.showTextDocument(document);
    let reads = 0;
    const { open } = promises;
    const watched: typeof open = (path, ...more) => {
      if (String(path).endsWith('notes.txt')) reads += 1;
      return open(path, ...more);
    };
    promises.open = watched;
    syncBuiltinESMExports();
    try {
      for (let key = 0; key < 40; key += 1) {
        await editor.edit((edit) => edit.insert(document.positionAt(document.getText().length), 'x'));
      }
      assert.ok(reads <= 4, `It was opened ${reads} times for 40 keystrokes.`);
      model.answer = (asked) => sendAll(asked, words('Blue.'), end());
      await run(document.uri);
      assert.match(model.last.body, /Blue is the word/);
      assert.ok(reads >= 1, 'and this is how it is read');
    } finally {
      promises.open = open;
      syncBuiltinESMExports();
    }
  });

  test('chat.md defect 17: no server is started by opening, editing or saving a chat', async () => {
    const document = await openChat('quiet.chat.md', `# %% user\nHi\n${CALL}`);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), 'Oh. '));
    await document.save();
    await runSomethingElse();
    assert.equal(existsSync(trace()), false);
    // And this is how it would be seen.
    await run(document.uri);
    assert.equal(existsSync(trace()), true);
    assert.deepEqual(roles(document.getText()), ['user', 'tool', 'user']);
  });

  test('chat.md defect 17: keybindings apply in chats only, except for our own chord', () => {
    const { contributes } = vscode.extensions.getExtension('filechat.filechat')?.packageJSON ?? {};
    assert.ok(contributes.keybindings.length > 0);
    for (const { key, when } of contributes.keybindings) {
      if (key.startsWith('alt+m ')) continue;
      assert.match(when, /resourceFilename =~ \/\\\.chat\\\.md\$\/|focusedView == filechat\.chats/);
    }
  });
});
