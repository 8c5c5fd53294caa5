/** Faults 47 to 52 in a real editor, with a model on the real wire. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { acquireLock } from '../../../src/assets/chatLock.ts';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { end, send, sendAll, words } from '../../integration/helpers/wireServer.ts';
import { CURSOR, HI, LiveModel, recovered, run } from './kit/liveModel.ts';
import { inWorkspace, lensTitles, openChat, useSampleServer } from './kit/workspace.ts';

const CHAT = `---\nservers: []\n---\n${HI}`;
const WHOLE = `${CHAT}\n# %% assistant\nOne two three.\n\n# %% user\n`;

async function insert(uri: vscode.Uri, position: vscode.Position, text: string): Promise<void> {
  const change = new vscode.WorkspaceEdit();
  change.insert(uri, position, text);
  assert.equal(await vscode.workspace.applyEdit(change), true);
}

/** The document is what the disk says. */
async function isNow(document: vscode.TextDocument, text: string): Promise<void> {
  if (document.getText() === text) return;
  await new Promise<void>((resolve) => {
    const subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document !== document || document.getText() !== text) return;
      subscription.dispose();
      resolve();
    });
  });
}

async function isInFront(words: string): Promise<void> {
  const isSo = () => vscode.window.activeTextEditor?.document.getText().includes(words);
  if (isSo()) return;
  await new Promise<void>((resolve) => {
    const look = () => {
      if (!isSo()) return;
      subscription.dispose();
      resolve();
    };
    const subscription = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(look),
      vscode.window.onDidChangeActiveTextEditor(look),
    );
  });
}

suite('faults while a reply streams, in the editor', () => {
  const model = new LiveModel();
  /** The copies that were there before. */
  let known: readonly string[] = [];
  suiteSetup(async () => {
    await useSampleServer();
    await model.start();
    known = await recovered();
  });
  suiteTeardown(() => model.dispose());
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  /** Ends what a fault has left running: the connection must be closed by us, and a copy be kept. */
  async function isRescued({
    running,
    asked,
  }: Pick<Awaited<ReturnType<LiveModel['openHalf']>>, 'running' | 'asked'>) {
    const outcome = await running;
    assert.deepEqual([outcome.ok, outcome.lost], [false, true]);
    await asked.closed;
    const copies = await recovered();
    assert.equal(copies.length, known.length + 1);
    assert.ok(copies.at(-1)?.includes('One two'), JSON.stringify(copies));
    known = copies;
  }

  test('fault 47: text typed above, in and below a streaming reply is kept', async () => {
    const { document, running, asked } = await model.openHalf('typed47.chat.md', `${CHAT}\n# %% user\n`);
    const at = (words_: string) => document.positionAt(document.getText().indexOf(words_));
    await insert(document.uri, at('Hi\n'), 'Oh. ');
    await insert(document.uri, at('two\n'), 'and ');
    await insert(document.uri, document.positionAt(document.getText().length), 'Below');
    sendAll(asked, words(' three.'), end());
    assert.equal((await running).ok, true);
    assert.equal(
      document.getText(),
      `${CHAT.replace('Hi', 'Oh. Hi')}\n# %% assistant\nOne and two three.\n\n# %% user\nBelow`,
    );
    assert.equal(model.last, asked, 'the half turn below is not answered');
  });

  test('fault 48: undo stops a streaming reply and keeps a copy; redo restores the text', async () => {
    const half = await model.openHalf('undo48.chat.md', CHAT);
    const { document } = half;
    const written = document.getText();
    await vscode.commands.executeCommand('undo');
    await isRescued(half);
    assert.equal(document.getText(), CHAT);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('redo');
    assert.equal(document.getText(), written);
    assert.equal(nextAction(document.getText()).kind, 'resume');
  });

  test('fault 49: a chat of a killed editor is marked; opening it runs nothing; Resume continues', async () => {
    const left = `${CHAT}\n# %% assistant\nOne two\n${CURSOR} abc123 -->\n`;
    const before = model.asked.length;
    const document = await openChat('left49.chat.md', left);
    model.answer = (asked) => sendAll(asked, words(' three.'), end());
    const other = await openChat('other49.chat.md', CHAT);
    await run(other.uri);
    assert.equal(model.asked.length - before, 1);
    assert.equal(document.getText(), left);
    await vscode.commands.executeCommand('filechat.resume', { uri: document.uri });
    assert.equal(document.getText(), WHOLE);
  });

  test('fault 49: closing an editor without saving stops the reply and keeps a copy', async () => {
    const half = await model.openHalf('closed49.chat.md', CHAT);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await send(half.asked, words(' three'));
    await isRescued(half);
    assert.equal(readFileSync(half.document.uri.fsPath, 'utf8'), CHAT);
  });

  test('fault 49: a reply is written to the file after its tab is closed', async () => {
    const { document, running, asked } = await model.openHalf('tab49.chat.md', CHAT);
    await document.save();
    const written = new Promise<string>((resolve) => {
      const saved = vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        const text = readFileSync(uri.fsPath, 'utf8');
        if (!text.includes('One two three')) return;
        saved.dispose();
        resolve(text);
      });
    });
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await send(asked, words(' three'));
    assert.match(await written, /One two three\n<!-- filechat:writing/);
    sendAll(asked, words('.'), end());
    assert.equal((await running).ok, true);
    assert.equal(readFileSync(document.uri.fsPath, 'utf8'), WHOLE);
  });

  test('fault 50: a chat renamed during a reply gets the rest of it', async () => {
    const { document, running, asked } = await model.openHalf('before50.chat.md', CHAT);
    await document.save();
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(document.uri, inWorkspace('after50.chat.md'));
    assert.equal(await vscode.workspace.applyEdit(rename), true);
    sendAll(asked, words(' three.'), end());
    const outcome = await running;
    assert.deepEqual([outcome.ok, outcome.error], [true, undefined]);
    const after = await vscode.workspace.openTextDocument(inWorkspace('after50.chat.md'));
    assert.equal(after.getText(), WHOLE);
  });

  // A file that is renamed between its write and the look at what was written would stay open under its old name.
  test('fault 50: a chat is renamed after its save has finished', async () => {
    const { document, running, asked } = await model.openHalf('saving50.chat.md', CHAT);
    const events: string[] = [];
    const listeners = [
      // Stands for a formatter that takes its time.
      vscode.workspace.onWillSaveTextDocument((event) => {
        event.waitUntil(new Promise<void>((resolve) => setTimeout(resolve, 500)));
      }),
      vscode.workspace.onDidSaveTextDocument((saved) => events.push(`saved ${basename(saved.uri.path)}`)),
      vscode.workspace.onDidRenameFiles(() => events.push('renamed')),
    ];
    const saving = document.save();
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(document.uri, inWorkspace('saved50.chat.md'));
    assert.equal(await vscode.workspace.applyEdit(rename), true);
    assert.equal(await saving, true);
    for (const listener of listeners) listener.dispose();
    assert.deepEqual(events, ['saved saving50.chat.md', 'renamed']);
    sendAll(asked, words(' three.'), end());
    assert.equal((await running).error, undefined);
    const after = await vscode.workspace.openTextDocument(inWorkspace('saved50.chat.md'));
    assert.equal(after.getText(), WHOLE);
  });

  test('fault 50: a chat renamed during a reply is saved first', async () => {
    const { document, running, asked } = await model.openHalf('unsaved50.chat.md', CHAT);
    let before: string | undefined;
    const listener = vscode.workspace.onDidRenameFiles(({ files }) => {
      before = readFileSync(files[0]?.newUri.fsPath ?? '', 'utf8');
    });
    assert.equal(document.isDirty, true);
    const text = document.getText();
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(document.uri, inWorkspace('clean50.chat.md'));
    assert.equal(await vscode.workspace.applyEdit(rename), true);
    listener.dispose();
    assert.equal(before, text);
    sendAll(asked, words(' three.'), end());
    assert.equal((await running).error, undefined);
  });

  test('fault 50: deleting a chat stops its reply, keeps a copy, and does not restore the file', async () => {
    const half = await model.openHalf('gone50.chat.md', CHAT);
    await half.document.save();
    const { uri } = half.document;
    const change = new vscode.WorkspaceEdit();
    change.deleteFile(uri);
    assert.equal(await vscode.workspace.applyEdit(change), true);
    await send(half.asked, words(' three'));
    await isRescued(half);
    await assert.rejects(async () => vscode.workspace.fs.stat(uri));
  });

  test('fault 50: a checkout that replaces a chat stops its reply and keeps a copy', async () => {
    const half = await model.openHalf('checkout50.chat.md', CHAT);
    const { document } = half;
    await document.save();
    const old = '# %% user\nAn old version.\n';
    await vscode.workspace.fs.writeFile(document.uri, new TextEncoder().encode(old));
    await isNow(document, old);
    await send(half.asked, words(' three'));
    await isRescued(half);
    assert.equal(document.getText(), old);
  });

  test('fault 51: a chat that runs in another window says so and sends nothing', async () => {
    const document = await openChat('locked51.chat.md', CHAT);
    const lock = await acquireLock(document.uri.fsPath, { who: 'the command line' });
    assert.ok('release' in lock);
    const before = model.asked.length;
    try {
      const outcome = await run(document.uri);
      assert.match(outcome.error ?? '', /running in another process: the command line \(process \d+/);
    } finally {
      await lock.release();
    }
    assert.deepEqual([model.asked.length, document.getText()], [before, CHAT]);
  });

  test('fault 51: a second run in the same window is refused, and the first continues', async () => {
    const { document, running, asked } = await model.openHalf('twice51.chat.md', CHAT);
    assert.match((await run(document.uri)).error ?? '', /running already/);
    sendAll(asked, words(' three.'), end());
    assert.equal((await running).ok, true);
    assert.equal(document.getText(), WHOLE);
  });

  test('fault 51: a new chat can be run while an earlier one, which had its name, is running', async () => {
    model.answer = (asked) => void send(asked, words('One two'));
    const runNew = async (question: string) => {
      await vscode.commands.executeCommand('filechat.newChat', { content: question });
      const document = vscode.window.activeTextEditor?.document;
      assert.ok(document);
      return { name: basename(document.uri.path), running: run(document.uri) };
    };
    const first = await runNew('Count.');
    await isInFront('One two');
    const named = vscode.window.activeTextEditor?.document.uri;
    assert.equal(basename(named?.path ?? ''), 'count.chat.md');
    model.answer = (asked) => sendAll(asked, words('Hello.'), end());
    const second = await runNew('Greet.');
    assert.equal(second.name, first.name);
    assert.equal((await second.running).ok, true);
    // Its own address is locked.
    assert.ok('holder' in (await acquireLock(named?.fsPath ?? '')));
    await vscode.commands.executeCommand('filechat.stop', { uri: named });
    await first.running;
  });

  const REFUSALS: readonly [status: number, error: object, told: RegExp, lenses: readonly string[]][] = [
    [
      403,
      { message: 'No access to this model.' },
      /denied access to the model m: No access to this model\./,
      // “Select Model…” leads to the model already, so the row does not name it again.
      ['Access denied', 'Select Model…', 'Set API Key…', 'Run'],
    ],
    [
      400,
      { message: 'Too much.', code: 'context_length_exceeded' },
      /^The chat is too long for m: Too much\./,
      ['Chat too long', 'Compact', 'Run', 'live'],
    ],
  ];
  test('a refused request says what to do above its turn, until the question changes', async () => {
    const document = await openChat('refused.chat.md', CHAT);
    for (const [status, error, told, lenses] of REFUSALS) {
      model.answer = ({ response }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      };
      assert.match((await run(document.uri)).error ?? '', told);
      assert.deepEqual(await lensTitles(document.uri), lenses);
    }
    await insert(document.uri, document.positionAt(document.getText().indexOf('Hi')), 'Oh. ');
    assert.deepEqual(await lensTitles(document.uri), ['Run', 'live']);
    // Before anything is sent.
    const lost = await openChat('lost.chat.md', '---\nagent: nobody\n---\n# %% user\nHi\n');
    assert.match((await run(lost.uri)).error ?? '', /^There is no agent “nobody”\./);
    assert.deepEqual(await lensTitles(lost.uri), ['Run failed', 'Run', 'nobody']);
  });

  test('a final newline that is added on save runs nothing', async () => {
    const settings = vscode.workspace.getConfiguration('files');
    await settings.update('insertFinalNewline', true, vscode.ConfigurationTarget.Global);
    const document = await openChat('newline.chat.md', CHAT);
    const bottom = document.positionAt(CHAT.length);
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(bottom, bottom) });
    await vscode.commands.executeCommand('type', { text: '\n# %% assistant' });
    const before = model.asked.length;
    await document.save();
    await settings.update('insertFinalNewline', undefined, vscode.ConfigurationTarget.Global);
    assert.equal(document.getText(), `${CHAT}\n# %% assistant\n`);
    model.answer = (asked) => sendAll(asked, words('One two three.'), end());
    // A run that had begun would refuse this one.
    assert.equal((await run(document.uri)).error, undefined);
    assert.deepEqual([document.getText(), model.asked.length - before], [WHOLE, 1]);
  });

  test('fault 52: opening a cloned chat with a pending call runs nothing', async () => {
    const text = `${HI}\n# %% assistant\n\`\`\`tool_call mine.photo c1\n{}\n\`\`\`\n`;
    const document = await openChat('cloned52.chat.md', text);
    await vscode.commands.executeCommand('markdown.showPreviewToSide');
    const before = model.asked.length;
    model.answer = (asked) => sendAll(asked, words('Hello.'), end());
    await run((await openChat('other52.chat.md', CHAT)).uri);
    assert.deepEqual([document.getText(), model.asked.length - before], [text, 1]);
  });
});
