import * as vscode from 'vscode';
import { asksForReply } from '../../chat/edits/typing.ts';
import { isChat } from './chatFiles.ts';
import { chatOf } from './openChats.ts';

export interface TypingParts {
  /** Whether a run of ours is writing into the chat now. */
  readonly isRunning: (chat: vscode.Uri) => boolean;
  readonly run: (document: vscode.TextDocument) => void;
}

/** The cursor follows a keystroke at once; a key that is pressed later is another one. */
const TAKEN_ALONG_MS = 250;

/** A save may say that it is one only after its formatters have worked, so a line break waits this long to be taken as typed. */
const DOUBT_MS = 400;

/**
 * Runs a chat when somebody types an empty `# %% assistant` at its end. A line break that a save adds looks the same
 * in the text. The editor's own moves the cursor along and puts it back at once, which no keystroke does. A formatter's
 * is told by its save: before it or after it, as the editor asks its own helpers and extensions in the order in which
 * they came when its window opened.
 */
export function watchTyping({ isRunning, run }: TypingParts): vscode.Disposable {
  let asked:
    | { readonly document: vscode.TextDocument; readonly version: number; readonly at: number }
    | undefined;
  let soon: NodeJS.Timeout | undefined;
  const forget = (document: vscode.TextDocument) => {
    if (asked?.document !== document) return;
    asked = undefined;
    clearTimeout(soon);
  };
  const typed = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
    const [change] = contentChanges;
    // Without a change only its state is another, as when it was saved.
    if (!change) return;
    forget(document);
    if (reason !== undefined || contentChanges.length !== 1 || !change.text.includes('\n')) return;
    if (!isChat(document.uri) || isRunning(document.uri)) return;
    const text = document.getText();
    const { rangeOffset: offset, rangeLength: removedLength, text: inserted } = change;
    if (asksForReply(text, { offset, inserted, removedLength }, chatOf(document))) {
      clearTimeout(soon);
      asked = { document, version: document.version, at: performance.now() };
    }
  });
  const moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
    const { document, selection } = textEditor;
    // Letters are told as keyboard; the Enter key, which the editor makes a command of its own, as nothing at all.
    const isTyping = kind === undefined || kind === vscode.TextEditorSelectionChangeKind.Keyboard;
    const inFront = textEditor === vscode.window.activeTextEditor;
    const wanted = asked?.document === document && asked.version === document.version;
    if (!wanted || !isTyping || !inFront) return;
    const isAtEnd = selection.active.line === document.lineCount - 1;
    if (!isAtEnd && kind === undefined) return forget(document);
    if (!isAtEnd || performance.now() - (asked?.at ?? 0) >= TAKEN_ALONG_MS) return;
    clearTimeout(soon);
    soon = setTimeout(() => {
      asked = undefined;
      run(document);
    }, DOUBT_MS);
  });
  const saving = vscode.workspace.onWillSaveTextDocument(({ document }) => forget(document));
  const saved = vscode.workspace.onDidSaveTextDocument((document) => {
    // What was typed while it was being written is not in it.
    if (!document.isDirty) forget(document);
  });
  return vscode.Disposable.from(typed, moved, saving, saved, { dispose: () => clearTimeout(soon) });
}
