import * as vscode from 'vscode';
import { readCut } from '../../chat/reply/notes.ts';
import { chatOf, isChat } from '../chat/chatFiles.ts';

/** Hides the line that marks the place of a reply. Undo and a crash leave it in the file; Resume continues there. */
export function hideWritingMark(): vscode.Disposable {
  const hidden = vscode.window.createTextEditorDecorationType({
    // The API has no property for this. VS Code adds the value to a rule of its style sheet.
    textDecoration: 'none; display: none',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  /** The id of the mark that is hidden in an editor: it moves with the text. */
  const done = new WeakMap<vscode.TextEditor, string>();
  const show = () => {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      if (!isChat(document.uri)) continue;
      const mark = findMark(document);
      const id = mark?.id ?? '';
      if (id === (done.get(editor) ?? '')) continue;
      done.set(editor, id);
      editor.setDecorations(hidden, mark ? [mark.range] : []);
    }
  };
  show();
  return vscode.Disposable.from(
    hidden,
    vscode.window.onDidChangeVisibleTextEditors(show),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (isChat(document.uri)) show();
    }),
  );
}

function findMark(document: vscode.TextDocument) {
  const turn = chatOf(document).turns.findLast(({ cut }) => cut?.kind === 'writing');
  if (!turn) return undefined;
  const first = document.positionAt(turn.bodyStart).line;
  for (let line = document.positionAt(turn.end).line; line >= first; line -= 1) {
    const { text, range } = document.lineAt(line);
    const cut = readCut(text);
    if (cut?.kind === 'writing') return { id: cut.id, range };
  }
  return undefined;
}
