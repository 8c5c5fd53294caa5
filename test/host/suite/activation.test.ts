import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import { inWorkspace } from './workspace.ts';

// Mocha runs the files by name, so these are the first tests: nothing has been used yet.
suite('activation', () => {
  const extension = vscode.extensions.getExtension('filechat.filechat');

  test('the packed extension is installed and sleeps until it is needed', () => {
    assert.ok(extension, 'filechat.filechat is not installed');
    assert.equal(extension.isActive, false);
  });

  test('opening, previewing, editing and undoing a chat with pending calls runs nothing', async () => {
    const uri = inWorkspace('pictures.chat.md');
    const before = readFileSync(uri.fsPath, 'utf8');
    const editor = await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('markdown.showPreviewToSide');
    await vscode.window.showTextDocument(editor.document, vscode.ViewColumn.One);
    // The preview may still have the keyboard, and Undo goes to whoever has it.
    await vscode.commands.executeCommand('workbench.action.focusFirstEditorGroup');
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '\n'));
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), before);
    await editor.document.save();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.equal(readFileSync(uri.fsPath, 'utf8'), before);
    assert.equal(existsSync(inWorkspace('cmdassets').fsPath), false);
  });

  test('once awake it offers its commands', async () => {
    await extension?.activate();
    const commands = new Set(await vscode.commands.getCommands(true));
    const { contributes } = extension?.packageJSON ?? {};
    for (const { command } of contributes.commands) {
      assert.ok(commands.has(command), `${command} is missing`);
    }
  });
});
