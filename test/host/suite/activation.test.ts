import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import { until } from '../../kit/until.ts';
import { loadedScripts } from './kit/loaded.ts';
import { inWorkspace } from './kit/workspace.ts';

// Mocha runs the files by name, so these are the first tests: nothing has been used yet.
suite('activation', () => {
  const extension = vscode.extensions.getExtension('filechat.filechat');

  test('the packed extension is installed and inactive until it is needed', () => {
    assert.ok(extension, 'filechat.filechat is not installed');
    assert.equal(extension.isActive, false);
  });

  test('listing MCP servers activates it', async () => {
    // A window that has just opened may not know yet who offers servers, and a list may come late.
    await until(async () => {
      void vscode.commands.executeCommand('workbench.mcp.listServer');
      await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
      return extension?.isActive === true;
    });
  });

  test('listing MCP servers and opening a Markdown file that is not a chat load only the entry point', async () => {
    const uri = inWorkspace('notes.md');
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode('# Notes\n'));
    await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const ours = loadedScripts().filter((url) => url.includes('/filechat.filechat-'));
    assert.ok(
      ours.some((url) => url.endsWith('/dist/extension.js')),
      'the entry is not among the scripts',
    );
    assert.deepEqual(
      ours.filter((url) => /\/(?:app|connection|sdkModel)-[^/]*$/.test(url)),
      [],
    );
    const bytes = ours.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    assert.ok(bytes < 12_000, `${bytes} bytes were loaded: ${ours.join(', ')}`);
  });

  test('opening a chat loads the rest', async () => {
    await vscode.window.showTextDocument(inWorkspace('tour.chat.md'));
    await vscode.commands.executeCommand('filechat.refreshChats');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.ok(loadedScripts().some((url) => /\/filechat\.filechat-.*\/app-[^/]*$/.test(url)));
  });

  test('opening, previewing, editing and undoing a chat with pending calls runs nothing', async () => {
    const uri = inWorkspace('images.chat.md');
    const before = readFileSync(uri.fsPath, 'utf8');
    const editor = await vscode.window.showTextDocument(uri);
    await vscode.commands.executeCommand('markdown.showPreviewToSide');
    await vscode.window.showTextDocument(editor.document, vscode.ViewColumn.One);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '\n'));
    // The preview takes the keyboard when it has loaded, and Undo goes to whatever has it.
    await until(async () => {
      await vscode.commands.executeCommand('workbench.action.focusFirstEditorGroup');
      if (editor.document.getText() !== before) await vscode.commands.executeCommand('undo');
      return editor.document.getText() === before;
    });
    await editor.document.save();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.equal(readFileSync(uri.fsPath, 'utf8'), before);
    assert.equal(existsSync(inWorkspace('cmdassets').fsPath), false);
  });

  test('an active extension offers its commands', async () => {
    await extension?.activate();
    const commands = new Set(await vscode.commands.getCommands(true));
    const { contributes } = extension?.packageJSON ?? {};
    for (const { command } of contributes.commands) {
      assert.ok(commands.has(command), `${command} is missing`);
    }
  });
});
