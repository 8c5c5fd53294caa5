import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { parseChat } from '../../../src/chat/format/parse.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import { CORPUS, LAST_ITEM, readCorpus, writeCorpus } from '../../integration/fixtures/corpus.ts';
import { end, sendAll, toolCall, words } from '../../integration/helpers/wireServer.ts';
import { until } from '../../kit/until.ts';
import { HI, LiveModel } from './kit/liveModel.ts';
import { Notices } from './kit/notices.ts';
import {
  answerNotice,
  holds,
  inWorkspace,
  lensTitles,
  openChat,
  setSetting,
  useSampleServer,
} from './kit/workspace.ts';

const CALL = (tool: string, json = '{}') => `\`\`\`tool_call mine.${tool}\n${json}\n\`\`\`\n`;
const run = () => vscode.commands.executeCommand<RunOutcome>('filechat.run');
const callTool = (argument: object) =>
  vscode.commands.executeCommand<RunOutcome>('filechat.callTool', argument);
const roles = (text: string) => parseChat(text).turns.map((turn) => turn.role);

/** Makes a dictionary of a photo, and drops the files of a tour. */
const TRANSFORMER = `
export default ({ content }, { tool }) => {
  if (tool === 'photo') return { data: content.find((block) => block.type === 'image').data };
  if (tool === 'tour') return 'No files.';
};
`;

suite('a chat in the editor', () => {
  suiteSetup(useSampleServer);
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  test('text, image, audio and PDF arrive in order, each as a complete file', async () => {
    const document = await openChat('order.chat.md', '# %% user\n');
    const outcome = await callTool({ server: 'mine', tool: 'tour' });
    assert.deepEqual([outcome.ok, outcome.error], [true, undefined]);
    assert.deepEqual(
      outcome.assets.map((path) => path.split('.').at(-1)),
      ['png', 'wav', 'pdf'],
    );
    const links = [...document.getText().matchAll(/\[Tool generated (image|audio|file) 1/g)].map(
      (match) => match[1],
    );
    assert.deepEqual(links, ['image', 'audio', 'file']);
    for (const path of outcome.assets) assert.ok(statSync(inWorkspace(path).fsPath).size > 1000, path);
  });

  test('the transformer and the fields of the settings apply, and a left out file is kept', async () => {
    const settings = vscode.workspace.getConfiguration('filechat.results');
    const set = (name: string, value: unknown) =>
      settings.update(name, value, vscode.ConfigurationTarget.Global);
    const module = inWorkspace('transformer.mjs');
    await vscode.workspace.fs.writeFile(module, new TextEncoder().encode(TRANSFORMER));
    await set('transformer', module.fsPath);
    await set('fields', { 'mine.photo': [{ path: 'data', summary: 'A {content_type}, {none}' }] });
    try {
      const document = await openChat('transformer.chat.md', '# %% user\n');
      assert.equal((await callTool({ server: 'mine', tool: 'photo' })).assets.length, 1);
      assert.match(document.getText(), /"data": "A JPG, \{none\}"\n/);
      assert.match(document.getText(), /> ⚠ Check filechat\.results\.fields for mine\.photo\. .* \{none\}, /);
      const { assets } = await callTool({ server: 'mine', tool: 'tour' });
      assert.ok(assets.length > 0);
      assert.match(document.getText(), /\nNo files\.\n\n> ⚠ Your transformer omitted /);
    } finally {
      await set('transformer', undefined);
      await set('fields', undefined);
    }
  });

  test('a hand-written call runs, and the chat ends with a turn for the user', async () => {
    const document = await openChat(
      'hand.chat.md',
      `# %% user\nDraw.\n\n${CALL('photo')}\n${CALL('jingle')}`,
    );
    const outcome = await run();
    assert.deepEqual([outcome.ok, outcome.assets.length], [true, 2]);
    assert.deepEqual(roles(document.getText()), ['user', 'tool', 'tool', 'user']);
  });

  test('text that looks like turns, fences and calls leaves the turns as they are', async () => {
    const document = await openChat('hostile.chat.md', `# %% user\n${CALL('hostile')}`);
    await run();
    await document.save();
    const saved = readFileSync(document.uri.fsPath, 'utf8');
    assert.deepEqual(roles(saved), ['user', 'tool', 'user']);
    assert.equal(parseChat(saved).turns.flatMap((turn) => turn.calls).length, 1);
  });

  test('a file with CRLF keeps CRLF', async () => {
    const document = await openChat('crlf.chat.md', `# %% user\n${CALL('tour')}`.replaceAll('\n', '\r\n'));
    assert.equal((await run()).ok, true);
    await document.save();
    const saved = readFileSync(document.uri.fsPath, 'utf8');
    assert.deepEqual(roles(saved), ['user', 'tool', 'user']);
    assert.equal(saved.replaceAll('\r\n', '').includes('\n'), false);
  });

  test('text typed while a tool runs is kept', async () => {
    const document = await openChat('typing.chat.md', '# %% user\nAbove.\n');
    const working = callTool({ server: 'mine', tool: 'slow', arguments: { seconds: 1, steps: 2 } });
    await holds(document, '<!-- filechat:sent c1 -->');
    const change = new vscode.WorkspaceEdit();
    change.insert(document.uri, new vscode.Position(1, 0), 'First. ');
    change.insert(document.uri, document.positionAt(document.getText().length), 'Below.');
    assert.equal(await vscode.workspace.applyEdit(change), true);
    assert.equal((await working).ok, true);
    assert.match(document.getText(), /^First\. Above\.\n[\s\S]*```\nBelow\.\n\n# %% tool mine\.slow c1\n/m);
  });

  test('stop cancels a tool at once and keeps the chat valid', async () => {
    const document = await openChat('stop.chat.md', '# %% user\n');
    const working = callTool({ server: 'mine', tool: 'slow', arguments: { seconds: 20, steps: 20 } });
    await holds(document, '<!-- filechat:sent c1 -->');
    await vscode.commands.executeCommand('filechat.stop', { uri: document.uri });
    const outcome = await working;
    assert.deepEqual([outcome.ok, outcome.error], [false, 'The call was stopped before its result arrived.']);
    assert.deepEqual(roles(document.getText()), ['user', 'tool', 'user']);
  });

  test('a chat renamed while a tool runs gets the result', async () => {
    const document = await openChat('before.chat.md', '# %% user\n');
    const working = callTool({ server: 'mine', tool: 'slow', arguments: { seconds: 1, steps: 2 } });
    await holds(document, '<!-- filechat:sent c1 -->');
    await document.save();
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(document.uri, inWorkspace('after.chat.md'));
    assert.equal(await vscode.workspace.applyEdit(rename), true);
    const outcome = await working;
    assert.deepEqual([outcome.ok, outcome.error], [true, undefined]);
    const after = await vscode.workspace.openTextDocument(inWorkspace('after.chat.md'));
    assert.deepEqual(roles(after.getText()), ['user', 'tool', 'user']);
  });

  test('a call is sent while the user saves the chat', async () => {
    const document = await openChat('saved.chat.md', '# %% user\n');
    // Stands for a formatter that takes its time.
    const formatter = vscode.workspace.onWillSaveTextDocument((event) => {
      if (event.document === document)
        event.waitUntil(new Promise<void>((resolve) => setTimeout(resolve, 200)));
    });
    const working = callTool({ server: 'mine', tool: 'photo' });
    await holds(document, '<!-- filechat:sent c1 -->');
    const isSaved = document.save();
    const outcome = await working;
    formatter.dispose();
    assert.deepEqual([outcome.ok, outcome.error, await isSaved], [true, undefined, true]);
  });

  test('a cursor that the user moved stays in place', async () => {
    const document = await openChat('cursor.chat.md', '# %% user\nOne.\nTwo.\n');
    const editor = await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('cursorBottom');
    const working = callTool({ server: 'mine', tool: 'slow', arguments: { seconds: 1, steps: 2 } });
    await holds(document, 'tool_call mine.slow c1');
    await vscode.commands.executeCommand('cursorTop');
    await working;
    assert.equal(editor.selection.active.line, 0);
  });

  test('a new chat never replaces another', async () => {
    await vscode.commands.executeCommand('filechat.newChat', { content: 'Hello.' });
    const first = vscode.window.activeTextEditor?.document;
    await vscode.commands.executeCommand('filechat.newChat', { folder: inWorkspace() });
    const second = vscode.window.activeTextEditor?.document;
    assert.deepEqual(
      [first, second].map((each) => basename(each?.uri.fsPath ?? '')),
      ['new.chat.md', 'new-2.chat.md'],
    );
    assert.deepEqual([first?.getText(), second?.getText()], ['# %% user\nHello.\n', '# %% user\n']);
  });

  test('an unsaved chat links to files in permanent storage', async () => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse('untitled:scratch.chat.md'));
    await vscode.window.showTextDocument(document);
    const { assets } = await callTool({ server: 'mine', tool: 'photo' });
    assert.equal(assets.length, 1);
    assert.ok(statSync(assets[0] ?? '').size > 1000);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  test('roles are offered once, so Enter never accepts a stale suggestion', async () => {
    const { uri, lineCount, lineAt } = await openChat('roles.chat.md', '# %% user\nHello\n\n# %% s');
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      uri,
      lineAt(lineCount - 1).range.end,
    );
    const offered = list.items.map(({ label }) => label).filter((label) => String(label).startsWith('# %%'));
    assert.deepEqual(offered, ['# %% user', '# %% assistant', '# %% system']);
    assert.equal(list.isIncomplete, false);
  });

  test('a workspace cannot configure a server behind the user’s back', async () => {
    const settings = inWorkspace('.vscode', 'settings.json');
    const evil = { evil: { command: 'touch', args: [inWorkspace('owned').fsPath] } };
    const json = JSON.stringify({ 'filechat.mcpServers': evil, 'filechat.approve': 'auto' });
    await vscode.workspace.fs.writeFile(settings, new TextEncoder().encode(json));
    const document = await openChat('evil.chat.md', `# %% user\n${CALL('x').replace('mine.', 'evil.')}`);
    const outcome = await run();
    assert.equal(outcome.error, 'There is no server evil. Configured servers: mine.');
    assert.match(document.getText(), /> ⚠ There is no server evil\./);
    assert.equal(readdirSync(inWorkspace().fsPath).includes('owned'), false);
    await vscode.workspace.fs.delete(settings);
  });
});

suite('waiting for permission', () => {
  const model = new LiveModel();
  suiteSetup(async () => {
    await useSampleServer();
    await model.start();
    await setSetting('approve', 'ask');
  });
  suiteTeardown(async () => {
    await model.dispose();
    await useSampleServer();
  });
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const asks = async ({ uri }: vscode.TextDocument) => (await lensTitles(uri)).includes('Allow Once');
  const isMade = ({ fileName }: vscode.TextDocument) => readFileSync(fileName, 'utf8').includes('# %% tool');

  /** A chat whose model has called a tool that nobody has allowed yet. */
  async function openAsking(name: string) {
    model.answer = (asked) =>
      sendAll(
        asked,
        words('I will.'),
        toolCall(0, 'x', 'mine__weather', '{"city": "Bern"}'),
        end('tool_calls'),
      );
    const document = await openChat(name, HI);
    const running = run();
    await until(() => asks(document));
    return { document, running };
  }

  test('Stop makes no call, and Run asks again', async () => {
    const { document, running } = await openAsking('asks-stopped.chat.md');
    await vscode.commands.executeCommand('filechat.stop', { uri: document.uri });
    assert.equal((await running).cancelled, true);
    const lenses = await lensTitles(document.uri);
    assert.deepEqual([lenses.includes('Run 1 Tool Call'), lenses.includes('Allow Once')], [true, false]);
    assert.equal(isMade(document), false);
    const again = run();
    await until(() => asks(document));
    model.answer = (asked) => sendAll(asked, words('Cold.'), end());
    await vscode.commands.executeCommand('filechat.allowCall', {});
    assert.equal((await again).ok, true);
    assert.match(document.getText(), /# %% tool mine\.weather c1\n[\s\S]*Cold\.\n\n# %% user\n$/);
  });

  test('Undo makes no call', async () => {
    const { document, running } = await openAsking('asks-undone.chat.md');
    await vscode.commands.executeCommand('undo');
    assert.equal((await running).ok, false);
    assert.equal(await asks(document), false);
    assert.deepEqual([document.getText(), isMade(document)], [HI, false]);
  });

  test('closing the chat makes no call, which can no longer be allowed', async () => {
    const { document, running } = await openAsking('asks-closed.chat.md');
    await document.save();
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    assert.equal((await running).ok, false);
    const { error } = await vscode.commands.executeCommand<RunOutcome>('filechat.allowCall', {});
    assert.match(error ?? '', /No pending tool calls in this chat|Open a chat first/);
    assert.equal(isMade(document), false);
  });

  test('a run at its limit of steps continues when its question is answered, and Stop ends the question', async () => {
    await setSetting('maxSteps', 1);
    await setSetting('approve', 'auto');
    const notices = new Notices();
    model.answer = (asked) =>
      asked.body.includes('"role":"tool"')
        ? sendAll(asked, words('Cold.'), end())
        : sendAll(asked, toolCall(0, 'x', 'mine__weather', '{"city": "Bern"}'), end('tool_calls'));
    try {
      const document = await openChat('steps.chat.md', HI);
      const running = run();
      await notices.answer(0, 2);
      assert.equal((await running).error, undefined);
      assert.match(document.getText(), /Cold\.\n\n# %% user\n$/);
      const stopped = await openChat('steps-stopped.chat.md', HI);
      const waiting = run();
      await notices.asked(2);
      await vscode.commands.executeCommand('filechat.stop', { uri: stopped.uri });
      assert.equal((await waiting).cancelled, true);
      await notices.none();
    } finally {
      await setSetting('maxSteps', undefined);
      await setSetting('approve', 'ask');
    }
  });

  test('a file outside of the workspace is sent after the user has agreed', async () => {
    const outside = join(realpathSync(tmpdir()), `filechat-outside-${process.pid}.txt`);
    writeFileSync(outside, 'forty-two');
    model.answer = (asked) => sendAll(asked, words('Read.'), end());
    const document = await openChat('outside.chat.md', `# %% user\nRead [these](${outside}).\n`);
    const before = model.asked.length;
    try {
      const running = run();
      await answerNotice(0);
      assert.equal((await running).error, undefined);
    } finally {
      rmSync(outside);
    }
    assert.equal(model.asked.length, before + 1);
    assert.match(model.last.body, /forty-two/);
    assert.match(document.getText(), /Read\.\n\n# %% user\n$/);
  });
});

suite('the same results in the editor and on the command line', () => {
  const corpus = (side: string) => inWorkspace('corpus', side).fsPath;
  const node = process.env['FILECHAT_SUITE_NODE'] ?? 'node';
  const dist = realpathSync(inWorkspace('..', 'dist').fsPath);
  const server = { node, file: join(dist, '../test/integration/fixtures/corpus-server.ts') };
  const written: string[] = [];

  suiteTeardown(async () => {
    for (const name of written) await setSetting(name, undefined);
    await useSampleServer();
  });

  async function runInEditor(): Promise<void> {
    const { chat, transformer, settings } = writeCorpus(corpus('editor'), server);
    for (const [name, value] of Object.entries({ ...settings, 'results.transformer': transformer })) {
      await setSetting(name, value);
      written.push(name);
    }
    const uri = vscode.Uri.file(chat);
    await vscode.commands.executeCommand('filechat.run', { uri });
    await callTool({ uri, server: 'corpus', tool: 'item', arguments: LAST_ITEM });
    await (await vscode.workspace.openTextDocument(uri)).save();
  }

  async function runOnCommandLine(): Promise<void> {
    const { chat, settings } = writeCorpus(corpus('cli'), server);
    const { approve, timeoutSeconds, mcpServers, ...results } = settings;
    const nested = Object.entries(results).map(([name, value]) => [name.replace('results.', ''), value]);
    const file = join(corpus('cli'), 'settings.json');
    const json = {
      'filechat.approve': approve,
      'filechat.timeoutSeconds': timeoutSeconds,
      mcpServers,
      results: { ...Object.fromEntries(nested), transformer: 'transformer.mjs' },
    };
    writeFileSync(file, JSON.stringify(json));
    const filechat = (...args: string[]) =>
      promisify(execFile)(node, [join(dist, 'cli.js'), ...args, '--settings', file], { maxBuffer: 1e8 });
    // One of the results is an error.
    await assert.rejects(filechat('run', chat), { code: 1 });
    await filechat('call', 'corpus.item', '--args', JSON.stringify(LAST_ITEM), '--chat', chat);
  }

  test('every result of the corpus gives the same chat and the same files', async function () {
    this.timeout(60_000);
    await Promise.all([runInEditor(), runOnCommandLine()]);
    const expected = readCorpus(corpus('editor'));
    const actual = readCorpus(corpus('cli'));
    assert.deepEqual(Object.keys(actual).sort(), Object.keys(expected).sort());
    for (const [name, content] of Object.entries(expected)) assert.equal(actual[name], content, name);
    assert.ok(Object.keys(expected).length > 25);
    const results = (expected['text'] ?? '').matchAll(/^# %% tool corpus\.item c\d+$/gm);
    assert.equal([...results].length, CORPUS.length);
  });
});
