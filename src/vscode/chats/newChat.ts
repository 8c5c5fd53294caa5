import * as vscode from 'vscode';
import { quoteLines } from '../../chat/edits/quote.ts';
import { createChat } from '../chat/chatFiles.ts';
import { attachFiles, insertAtCaret } from '../chat/commands.ts';

/** The lines that are selected in front of the user, unless that is a chat; as the beginning of a new one. */
export function quoteSelection(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty || editor.document.uri.path.endsWith('.chat.md')) return undefined;
  const { document, selection } = editor;
  const { start, end } = selection;
  // A selection of whole lines ends at the beginning of the next one.
  const lastLine = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return quoteLines({
    file: vscode.workspace.asRelativePath(document.uri),
    firstLine: start.line + 1,
    lastLine: lastLine + 1,
    language: document.languageId,
    text: document.getText(selection),
  });
}

/** A new chat that begins with links to files, so that they are sent with its first question. */
export async function createChatAbout(files: readonly vscode.Uri[]): Promise<void> {
  const [first] = files;
  if (!first) return;
  const folder = vscode.workspace.getWorkspaceFolder(first)?.uri;
  const document = await createChat(folder);
  if (!document || !(await attachFiles(document, files)).ok) return;
  const editor = await vscode.window.showTextDocument(document);
  await insertAtCaret(editor, () => '\n\n', { joinUndo: true });
}
