import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { parseChat, turnBody } from '../../../src/chat/format/parse.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import { MemoryFiles } from './kit/memfs.ts';
import { TestModel } from './kit/testModel.ts';
import { openChat, useSampleServer } from './kit/workspace.ts';

const OWN_TOOLS = ['filechat__list_assets', 'filechat__read_asset', 'filechat__search_chats'];
const WITH_RESOURCES = [...OWN_TOOLS, 'filechat__list_resources', 'filechat__read_resource'].sort();
const run = (uri: vscode.Uri) => vscode.commands.executeCommand<RunOutcome>('filechat.run', { uri });
const callTool = (tool: string, args: object, more: object = {}) =>
  vscode.commands.executeCommand<RunOutcome>('filechat.callTool', {
    server: 'filechat',
    tool,
    arguments: args,
    ...more,
  });

async function setTo(name: string, value: unknown): Promise<void> {
  const settings = vscode.workspace.getConfiguration('filechat');
  await settings.update(name, value, vscode.ConfigurationTarget.Global);
}

/** What stands in the chat below the last call of a tool. */
function lastResult(text: string): string {
  const turn = parseChat(text).turns.findLast(({ role }) => role === 'tool');
  return turn ? turnBody(text, turn) : '';
}

suite('built-in tools in the editor', () => {
  let model: TestModel;
  suiteSetup(async () => {
    await useSampleServer();
    model = new TestModel();
  });
  suiteTeardown(async () => {
    model.dispose();
    await useSampleServer();
  });
  teardown(async () => {
    await setTo('builtInTools', undefined);
    await setTo('disabledTools', undefined);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  /** The tools of ours that the model is told of in a chat. */
  async function offered(document: vscode.TextDocument): Promise<readonly string[]> {
    model.asked.length = 0;
    model.reply = async (parts) => parts.report(new vscode.LanguageModelTextPart('Hello.'));
    const outcome = await run(document.uri);
    assert.equal(outcome.error, undefined);
    const names = model.asked[0]?.options.tools?.map(({ name }) => name) ?? [];
    return names.filter((name) => name.startsWith('filechat__'));
  }

  test('a new asset can be listed and read before the chat is saved', async () => {
    model.asked.length = 0;
    model.reply = async (parts) => {
      const calls: readonly (readonly [name: string, args: object])[] = [
        ['mine__report', {}],
        ['filechat__list_assets', {}],
        ['filechat__read_asset', { uri: 'quarterly.pdf', maxBytes: 16 }],
      ];
      const next = calls[model.asked.length - 1];
      if (next) parts.report(new vscode.LanguageModelToolCallPart(`x${model.asked.length}`, ...next));
      else parts.report(new vscode.LanguageModelTextPart('It is a PDF.'));
    };
    const document = await openChat('ownFiles/run.chat.md', '# %% user\nReport!\n');
    const outcome = await run(document.uri);
    assert.deepEqual([outcome.error, outcome.ok], [undefined, true]);
    const text = document.getText();
    assert.match(
      text,
      /# %% tool filechat\.list_assets c2\n```\n1 asset:\nIn .*:\n- quarterly\.pdf \(.*\): asset:tool-file-\S+\.pdf\n```/,
    );
    assert.match(
      text,
      /# %% tool filechat\.read_asset c3\n```\nBytes 0 to 15 of the text of quarterly\.pdf [\s\S]*## Page 1/,
    );
    assert.match(text, /# %% assistant\nIt is a PDF\.\n/);
  });

  test('are offered if the setting is on, no server has that name, and the tool is enabled', async () => {
    const chat = (name: string) => openChat(`ownFiles/${name}.chat.md`, '# %% user\nHi!\n');
    assert.deepEqual(await offered(await chat('on')), WITH_RESOURCES);
    await setTo('builtInTools', false);
    assert.deepEqual(await offered(await chat('off')), []);
    assert.match((await callTool('list_assets', {})).error ?? '', /filechat/);
    await setTo('builtInTools', undefined);
    await setTo('disabledTools', ['filechat.search_*']);
    assert.deepEqual(await offered(await chat('switched')), WITH_RESOURCES.slice(0, -1));
    await setTo('disabledTools', undefined);
    const { mine } = vscode.workspace
      .getConfiguration('filechat')
      .get<Record<string, object>>('mcpServers', {});
    await setTo('mcpServers', { mine, filechat: mine });
    const names = await offered(await chat('taken'));
    await useSampleServer();
    assert.ok(names.includes('filechat__report'), names.join());
    assert.ok(!names.includes('filechat__list_assets'), names.join());
  });

  test('are offered to a chat without servers as soon as it has assets', async () => {
    await setTo('mcpServers', {});
    try {
      assert.deepEqual(await offered(await openChat('without/a.chat.md', '# %% user\nHi!\n')), []);
      await openChat('without/cmdassets/tool-file-20261116-093012-V1StGXR8a0-1.txt', 'Some words.');
      assert.deepEqual(await offered(await openChat('without/b.chat.md', '# %% user\nHi!\n')), OWN_TOOLS);
      await callTool(
        'read_asset',
        { uri: 'tool-file-20261116-093012-V1StGXR8a0-1.txt' },
        {
          uri: (await openChat('without/c.chat.md', '# %% user\n')).uri,
        },
      );
      assert.match(vscode.window.activeTextEditor?.document.getText() ?? '', /Some words\./);
    } finally {
      await useSampleServer();
    }
  });

  test('an unsaved chat lists and reads its own assets, and searches the workspace', async () => {
    await openChat('ownFiles/words.chat.md', '# %% user\nThe xylophone is out of tune.\n');
    const document = await vscode.workspace.openTextDocument(
      vscode.Uri.parse('untitled:/somewhere/unsaved.chat.md'),
    );
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('filechat.callTool', {
      server: 'mine',
      tool: 'photo',
      uri: document.uri,
    });
    const name = /(tool-image-[\w-]+\.jpg)/.exec(document.getText())?.[1] ?? assert.fail(document.getText());
    await callTool('list_assets', {}, { uri: document.uri });
    assert.match(
      lastResult(document.getText()),
      new RegExp(`^\`\`\`\n1 asset:\nIn .*:\n.*: asset:${name}\n\`\`\``),
    );
    const before = document.getText().split(`/${name})`).length;
    await callTool('read_asset', { uri: `asset:${name}` }, { uri: document.uri });
    assert.match(
      lastResult(document.getText()),
      /^image\/jpeg, .*\n\n!\[Tool generated image 1\]\(\/.*cmdassets\/tool-image-/,
    );
    assert.equal(document.getText().split(`/${name})`).length, before + 1);
    await callTool('search_chats', { query: 'xylophone' }, { uri: document.uri });
    assert.match(lastResult(document.getText()), /filechat:\/\/ownFiles%2Fwords\.chat\.md/);
  });

  test('are not offered in a virtual file system, and a call says why', async () => {
    const files = new MemoryFiles();
    const registered = vscode.workspace.registerFileSystemProvider('memfs', files, { isCaseSensitive: true });
    try {
      const uri = vscode.Uri.parse('memfs:/own/far.chat.md');
      files.createDirectory(vscode.Uri.joinPath(uri, '..'));
      await files.writeFile(uri, new TextEncoder().encode('# %% user\nHi!\n'));
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(document);
      assert.deepEqual(await offered(document), []);
      assert.match(
        (await callTool('list_assets', {}, { uri })).error ?? '',
        /not in a folder on this machine/,
      );
    } finally {
      registered.dispose();
    }
  });
});
