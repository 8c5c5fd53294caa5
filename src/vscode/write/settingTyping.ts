import * as vscode from 'vscode';
import { placeAt } from '../../chat/completion/place.ts';
import { isChat } from '../chat/chatFiles.ts';
import { chatOf } from '../chat/openChats.ts';

/**
 * Offers the settings to who begins to write one. In Markdown the editor offers nothing at letters, and elsewhere in
 * a chat it should not.
 */
export function watchSettings(): vscode.Disposable {
  return vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    const [change, ...others] = contentChanges;
    if (!change || others.length > 0 || !/^[a-z]$/i.test(change.text)) return;
    if (change.range.start.character > 0 || !change.range.isEmpty || !isChat(document.uri)) return;
    if (vscode.window.activeTextEditor?.document !== document || !suggests(document)) return;
    const text = document.getText();
    // Settings stand at the top; most chats have none, and most letters are typed elsewhere.
    if (!text.startsWith('---')) return;
    if (placeAt(text, chatOf(document), change.rangeOffset + 1)?.kind !== 'key') return;
    void vscode.commands.executeCommand('editor.action.triggerSuggest');
  });
}

function suggests(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration('editor', document).get('suggestOnTriggerCharacters', true);
}
