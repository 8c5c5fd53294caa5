import * as vscode from 'vscode';
import { asksForReply } from '../../chat/edits/typing.ts';
import type { Runs } from '../run/runs.ts';
import { chatOf, isChat } from './chatFiles.ts';

/** The cursor follows a keystroke within this time; a later move has another cause. */
const CURSOR_DELAY_MS = 250;

/** The save event may come after the edits of formatters, so a line break only counts as typed after this time. */
const SAVE_DELAY_MS = 400;

/**
 * Runs a chat when the user types an empty `# %% assistant` at its end. A line break that a save adds makes the same
 * change. VS Code's own (insert final newline) moves the cursor back at once, which no keystroke does. A formatter's is
 * recognized by its save event, which comes before or after the edit.
 */
export function watchTyping(
  runs: Pick<Runs, 'isRunning'>,
  run: (document: vscode.TextDocument) => void,
): vscode.Disposable {
  let pending:
    | { readonly document: vscode.TextDocument; readonly version: number; readonly at: number }
    | undefined;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (document: vscode.TextDocument) => {
    if (pending?.document !== document) return;
    pending = undefined;
    clearTimeout(timer);
  };
  const typed = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
    const [change] = contentChanges;
    // Events without changes report a changed state, such as saved.
    if (!change) return;
    cancel(document);
    if (reason !== undefined || contentChanges.length !== 1 || !change.text.includes('\n')) return;
    if (!isChat(document.uri) || runs.isRunning(document.uri)) return;
    const text = document.getText();
    const { rangeOffset: offset, rangeLength: removedLength, text: inserted } = change;
    if (asksForReply(text, { offset, inserted, removedLength }, chatOf(document))) {
      clearTimeout(timer);
      pending = { document, version: document.version, at: performance.now() };
    }
  });
  const moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
    const { document, selection } = textEditor;
    // Letters are reported as Keyboard, the Enter key as undefined.
    const isTyping = kind === undefined || kind === vscode.TextEditorSelectionChangeKind.Keyboard;
    const isActive = textEditor === vscode.window.activeTextEditor;
    const isCurrent = pending?.document === document && pending.version === document.version;
    if (!isCurrent || !isTyping || !isActive) return;
    const isAtEnd = selection.active.line === document.lineCount - 1;
    if (!isAtEnd && kind === undefined) return cancel(document);
    if (!isAtEnd || performance.now() - (pending?.at ?? 0) >= CURSOR_DELAY_MS) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      pending = undefined;
      run(document);
    }, SAVE_DELAY_MS);
  });
  const saving = vscode.workspace.onWillSaveTextDocument(({ document }) => cancel(document));
  const saved = vscode.workspace.onDidSaveTextDocument((document) => {
    // Text typed during the save is not saved yet.
    if (!document.isDirty) cancel(document);
  });
  return vscode.Disposable.from(typed, moved, saving, saved, { dispose: () => clearTimeout(timer) });
}
