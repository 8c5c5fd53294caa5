import * as vscode from 'vscode';
import { chatOf, isChat, rangeOf } from '../chat/chatFiles.ts';
import { placeToWrite, wantsReason } from '../run/lensPlan.ts';
import type { Runs } from '../run/runs.ts';

/** Shows in an empty turn what can be typed there. It is not part of the document. */
export function showGhostText(runs: Pick<Runs, 'isRunning' | 'onDidChange'>): vscode.Disposable {
  const style = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor('input.placeholderForeground') },
  });
  const show = (editor: vscode.TextEditor) => {
    const { document } = editor;
    if (!isChat(document.uri)) return;
    const [text, chat] = [document.getText(), chatOf(document)];
    const place = runs.isRunning(document.uri) ? undefined : placeToWrite(text, chat);
    if (place === undefined) return editor.setDecorations(style, []);
    const range = rangeOf(document, { start: place, end: place });
    const contentText = wantsReason(text, chat) ? DECLINED_HINT : HINT;
    editor.setDecorations(style, [{ range, renderOptions: { after: { contentText } } }]);
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

const HINT = vscode.l10n.t('Ask anything. Shift+Enter sends. @ tools, # files, / commands');
const DECLINED_HINT = vscode.l10n.t('Tell the model why, then press Shift+Enter');
