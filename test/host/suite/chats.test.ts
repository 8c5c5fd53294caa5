import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { encodeWav } from '../../../samples/server/encode/wav.ts';
import { end, sendAll, toolCall, words } from '../../integration/helpers/wireServer.ts';
import { until } from '../../kit/until.ts';
import { longChat } from '../../unit/chat/longChat.ts';
import { LiveModel, run } from './kit/liveModel.ts';
import { inWorkspace, openChat, setSetting, useSampleServer } from './kit/workspace.ts';

async function textInFront(): Promise<string> {
  const text = vscode.window.activeTextEditor?.document.getText() ?? '';
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  return text;
}

async function select(name: string, content: string, selection: vscode.Selection): Promise<void> {
  const uri = inWorkspace(name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(content));
  const editor = await vscode.window.showTextDocument(uri);
  editor.selection = selection;
}

suite('the menu of a row that is gone', () => {
  test('does not act on the active chat', async () => {
    await vscode.window.showTextDocument(inWorkspace('tour.chat.md'));
    // What VS Code passes while it reads the view again.
    const outcome = await vscode.commands.executeCommand('filechat.renameChat', undefined, undefined);
    assert.deepEqual(outcome, {
      ok: false,
      error: 'The list was changed in the meantime. Nothing was done; try again.',
      assets: [],
    });
  });
});

suite('new chats', () => {
  test('given content replaces the selection', async () => {
    await select('picked.py', 'a = 1\nb = 2\n', new vscode.Selection(0, 0, 1, 3));
    await vscode.commands.executeCommand('filechat.newChat', { content: 'Hello' });
    assert.equal(await textInFront(), '# %% user\nHello\n');
  });

  test('lines of a selection are numbered as in the editor', async () => {
    await select('picked.py', 'a = 1\nb = 2\nc = 3\n', new vscode.Selection(1, 0, 2, 0));
    await vscode.commands.executeCommand('filechat.newChatWithSelection');
    assert.equal(await textInFront(), '# %% user\n`picked.py`, line 2:\n\n```python\nb = 2\n```\n\n');
  });

  test('a selection in a chat is not quoted', async () => {
    const editor = await vscode.window.showTextDocument(inWorkspace('tour.chat.md'));
    editor.selection = new vscode.Selection(0, 0, 1, 5);
    await vscode.commands.executeCommand('filechat.newChat');
    assert.equal(await textInFront(), '# %% user\n');
  });

  test('several files become links', async () => {
    const files = [inWorkspace('picked.py'), inWorkspace('notes.md')];
    await vscode.commands.executeCommand('filechat.newChatAboutFile', files[0], files);
    assert.equal(await textInFront(), '# %% user\n[picked.py](picked.py) [notes.md](notes.md)\n\n');
  });

  test('a sample is copied, and an unknown sample is an error', async () => {
    await vscode.commands.executeCommand('filechat.openSample', { name: 'mixed' });
    const name = vscode.window.activeTextEditor?.document.uri.path.split('/').at(-1);
    const sample = await vscode.workspace.fs.readFile(inWorkspace('mixed.chat.md'));
    assert.equal(await textInFront(), new TextDecoder().decode(sample));
    assert.equal(name, 'mixed-2.chat.md');
    await assert.rejects(
      async () => vscode.commands.executeCommand('filechat.openSample', { name: 'none' }),
      /There is no sample “none”. Samples: tour,/,
    );
  });
});

suite('the name of a new chat', () => {
  const model = new LiveModel();
  suiteSetup(async () => {
    await setSetting('mcpServers', {});
    await model.start();
  });
  suiteTeardown(async () => {
    await model.dispose();
    await useSampleServer();
  });
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const inFront = () => vscode.window.activeTextEditor?.document;
  const nameInFront = () => basename(inFront()?.uri.path ?? '');
  const pathOf = (name: string) => inWorkspace(name).fsPath;

  async function runInFront(reply: string): Promise<void> {
    model.answer = (asked) => sendAll(asked, words(reply), end());
    const uri = inFront()?.uri;
    assert.ok(uri);
    assert.equal((await run(uri)).error, undefined);
    await until(() => inFront()?.isDirty === false);
  }

  test('is that of its question; Undo takes it back after the reply, and then it stays', async () => {
    const other = await openChat('plot-the-sales.chat.md', '# %% user\nAnother one\n');
    await vscode.commands.executeCommand('filechat.newChat', { content: 'Plot the *sales*!' });
    const unnamed = nameInFront();
    const question = inFront()?.getText();
    await runInFront('Here they are.');
    assert.equal(nameInFront(), 'plot-the-sales-2.chat.md');
    assert.equal(existsSync(pathOf(unnamed)), false);
    assert.equal(readFileSync(other.uri.fsPath, 'utf8'), '# %% user\nAnother one\n');
    const replied = inFront()?.getText() ?? '';
    assert.match(replied, /Here they are\.\n\n# %% user\n$/);
    // The caret is where to write.
    await vscode.commands.executeCommand('type', { text: 'More' });
    assert.equal(inFront()?.getText(), `${replied}More`);
    await vscode.commands.executeCommand('undo');
    assert.equal(inFront()?.getText(), replied);
    await vscode.commands.executeCommand('undo');
    assert.deepEqual([inFront()?.getText(), nameInFront()], [question, 'plot-the-sales-2.chat.md']);
    await vscode.commands.executeCommand('undo');
    await until(() => nameInFront() === unnamed);
    assert.equal(inFront()?.getText(), question);
    await runInFront('Here they are again.');
    assert.deepEqual([nameInFront(), existsSync(pathOf(unnamed))], [unnamed, true]);
  });

  test('is known to the tools that its first reply calls', async () => {
    await vscode.commands.executeCommand('filechat.newChat', { content: 'Which files are mine?' });
    const link = '[mine](cmdassets/tool-file-20261116-093012-V1StGXR8-1.txt)';
    await vscode.workspace.fs.writeFile(
      inWorkspace('cmdassets', 'tool-file-20261116-093012-V1StGXR8-1.txt'),
      new TextEncoder().encode('Mine.'),
    );
    model.answer = (asked) =>
      asked.body.includes('"role":"tool"')
        ? sendAll(asked, words('One.'), end())
        : sendAll(asked, words(link), toolCall(0, 'x', 'filechat__list_assets', '{}'), end('tool_calls'));
    const uri = inFront()?.uri;
    assert.ok(uri);
    assert.equal((await run(uri)).error, undefined);
    assert.equal(nameInFront(), 'which-files-are-mine.chat.md');
    assert.match(inFront()?.getText() ?? '', /# %% tool filechat\.list_assets c1\n[^#]*V1StGXR8-1\.txt/);
  });
});

suite('a chat of a thousand turns', () => {
  test('has all of them in its outline and its folds', async () => {
    const { uri } = await openChat('long.chat.md', longChat(1000));
    const count = async (command: string) =>
      (await vscode.commands.executeCommand<readonly { readonly name?: string }[]>(command, uri)).filter(
        ({ name }) => !name?.startsWith('#'),
      ).length;
    assert.equal(await count('vscode.executeDocumentSymbolProvider'), 1001);
    assert.ok((await count('vscode.executeFoldingRangeProvider')) > 1500);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
});

suite('the hover of a link', () => {
  const PICTURE = 'tool-image-20261116-093012-V1StGXR8a0-1.png';
  const SOUND = 'tool-audio-20261116-093012-V1StGXR8a0-1.wav';

  test('has the length of a sound, the size of a referenced image, and says that a file is missing', async () => {
    const pixels = new Uint8ClampedArray(64 * 36 * 4);
    const sound = { samples: new Float64Array(8000 * 2.5), sampleRate: 8000 };
    const files = {
      [PICTURE]: encodePng({ width: 64, height: 36, pixels }),
      [SOUND]: encodeWav(sound),
    };
    for (const [name, bytes] of Object.entries(files))
      await vscode.workspace.fs.writeFile(inWorkspace('hover', 'cmdassets', name), bytes);
    const call = `\`\`\`tool_call mine.photo\n{"image": "asset:${PICTURE}"}\n\`\`\`\n`;
    const document = await openChat(
      'hover/links.chat.md',
      `# %% user\n[Silence](cmdassets/${SOUND})\n[Gone](cmdassets/gone.png)\n\n${call}`,
    );
    const hoverAt = async (words_: string) => {
      const at = document.positionAt(document.getText().indexOf(words_) + words_.length);
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
        'vscode.executeHoverProvider',
        document.uri,
        at,
      );
      return hovers
        .flatMap(({ contents }) => contents)
        .map((each) => (typeof each === 'string' ? each : each.value))
        .join('\n');
    };
    assert.match(await hoverAt('[Sile'), /^Audio \(.*\) · 2\.5 s · /m);
    assert.match(await hoverAt('[Go'), /does not exist/);
    assert.match(await hoverAt('asset:tool-im'), /64 × 36 pixels/);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
});

suite('a chat in a preview', () => {
  test('is the one whose assets are shown, although another chat is visible', async () => {
    await openChat('beside.chat.md', '# %% user\n');
    const document = await openChat('previewed.chat.md', '# %% user\n');
    await vscode.commands.executeCommand('markdown.showLockedPreviewToSide');
    await until(() => vscode.window.tabGroups.all.length === 2);
    await vscode.window.showTextDocument(inWorkspace('beside.chat.md'), {
      viewColumn: vscode.ViewColumn.One,
    });
    await vscode.commands.executeCommand('workbench.action.focusSecondEditorGroup');
    await until(() => tabInFront()?.input instanceof vscode.TabInputWebview);
    await vscode.commands.executeCommand('filechat.showAssets');
    await until(() => tabInFront()?.label === 'Assets of previewed');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.equal(document.getText(), '# %% user\n');
  });
});

function tabInFront(): vscode.Tab | undefined {
  return vscode.window.tabGroups.activeTabGroup.activeTab;
}
