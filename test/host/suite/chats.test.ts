import assert from 'node:assert/strict';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import { until } from '../../kit/until.ts';
import { inWorkspace, openChat } from './kit/workspace.ts';

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
