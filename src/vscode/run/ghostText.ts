import * as vscode from 'vscode';
import { chatOf, isChat } from '../chat/chatFiles.ts';
import { wantsReason } from '../consent/declineHint.ts';
import { placeToWrite } from './lensPlan.ts';
import type { Runs } from './runs.ts';

/** Shows in an empty turn what can be typed there. It is not part of the document. */
export function showGhostText(runs: Pick<Runs, 'isRunning' | 'onDidChange'>): vscode.Disposable {
  const contentText = vscode.l10n.t('Ask anything. Shift+Enter sends. @ tools, # files, / commands');
  const style = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { contentText, color: new vscode.ThemeColor('editorGhostText.foreground') },
  });
  const show = (editor: vscode.TextEditor) => {
    const { document } = editor;
    if (!isChat(document.uri)) return;
    const [text, chat] = [document.getText(), chatOf(document)];
    // After a declined call, the turn is for the reason; see `showDeclineHint`.
    const isOther = runs.isRunning(document.uri) || wantsReason(text, chat);
    const place = isOther ? undefined : placeToWrite(text, chat);
    const position = place === undefined ? undefined : document.positionAt(place);
    editor.setDecorations(style, position ? [new vscode.Range(position, position)] : []);
  };
  const showAll = () => vscode.window.visibleTextEditors.forEach(show);
  showAll();
  return vscode.Disposable.from(
    style,
    runs.onDidChange(showAll),
    vscode.window.onDidChangeVisibleTextEditors(showAll),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length === 0) return;
      vscode.window.visibleTextEditors.filter((editor) => editor.document === document).forEach(show);
    }),
  );
}
