import * as vscode from 'vscode';
import { moveToEnd } from './chatFiles.ts';

/** Who reads at the end wants to go on reading at the end; whoever moves away meanwhile is left alone. */
export class EndFollower implements vscode.Disposable {
  readonly #document: () => vscode.TextDocument;
  readonly #followed = new Map<vscode.TextEditor, Place>();
  readonly #subscriptions: vscode.Disposable;

  constructor(document: () => vscode.TextDocument) {
    this.#document = document;
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document === document()) this.#followed.set(editor, placeOf(editor));
    }
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document: changed }) => {
        if (changed === this.#document()) this.#follow();
      }),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.#scrolled(textEditor)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        // Our own edits move the cursor too, but not by keyboard, mouse or command.
        const place = this.#followed.get(textEditor);
        if (place && kind !== undefined) place.cursorIsOurs = false;
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  /** The next thing to write is at the end. */
  finish(): void {
    for (const [editor, place] of this.#followed) if (place.atEnd && place.cursorIsOurs) moveToEnd(editor);
  }

  #follow(): void {
    for (const [editor, place] of this.#followed) {
      if (!place.atEnd) continue;
      const last = editor.document.lineCount - 1;
      editor.revealRange(new vscode.Range(last, 0, last, 0));
    }
  }

  /** Text that grows below the window moves nothing; whoever scrolls up wants to stay there. */
  #scrolled(editor: vscode.TextEditor): void {
    const place = this.#followed.get(editor);
    if (!place) return;
    const now = placeOf(editor);
    if (now.top < place.top) place.atEnd = false;
    else if (now.atEnd) place.atEnd = true;
    place.top = now.top;
  }
}

interface Place {
  top: number;
  atEnd: boolean;
  cursorIsOurs: boolean;
}

/** At the end is who sees it, or who writes there. */
function placeOf(editor: vscode.TextEditor): Place {
  const last = editor.document.lineCount - 1;
  const seen = editor.visibleRanges.some(({ end }) => end.line >= last);
  const writes = editor.selection.active.line >= last - 1;
  return { top: editor.visibleRanges[0]?.start.line ?? 0, atEnd: seen || writes, cursorIsOurs: writes };
}
