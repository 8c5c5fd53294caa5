import * as vscode from 'vscode';
import { type Fold, isClosedAtFirst, planFolds, SeenFolds } from '../../chat/folds.ts';
import type { TurnShapes } from '../../chat/turnShape.ts';
import { chatOf } from '../openChats.ts';
import { Pace } from '../pace.ts';

const PACE_MS = 150;

/** Folds of a chat: turns, calls, results, reasoning, front matter. Long ones are closed when they are first seen. */
export class TurnFolds implements vscode.FoldingRangeProvider, vscode.Disposable {
  readonly #shapes: TurnShapes;
  readonly #seen = new WeakMap<vscode.TextDocument, SeenFolds>();
  readonly #pace = new Pace(PACE_MS);
  readonly #subscriptions: vscode.Disposable;

  constructor(shapes: TurnShapes) {
    this.#shapes = shapes;
    this.#subscriptions = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.#closeLong(editor)),
      vscode.workspace.onDidChangeTextDocument((event) => this.#changed(event)),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#pace.dispose();
  }

  /** Looks at the chat in front; the editor must know of the folds by then. */
  begin(): void {
    this.#closeLong(vscode.window.activeTextEditor);
  }

  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    return this.#foldsOf(document).map(({ first, last }) => new vscode.FoldingRange(first, last));
  }

  #changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0) return;
    this.#seen.get(document)?.move(contentChanges);
    if (vscode.window.activeTextEditor?.document !== document) return;
    this.#pace.run(document.uri.toString(), () => this.#closeLong(vscode.window.activeTextEditor));
  }

  /** Only the editor in front can be told to fold; others are looked at when they come to the front. */
  #closeLong(editor: vscode.TextEditor | undefined): void {
    if (!editor?.document.uri.path.endsWith('.chat.md')) return;
    const { document, selections } = editor;
    const seen = this.#seen.get(document) ?? new SeenFolds();
    this.#seen.set(document, seen);
    const long = this.#foldsOf(document).filter(({ kind, first, last }) =>
      isClosedAtFirst(kind, last - first + 1),
    );
    const isBusy = ({ first, last }: Lines) =>
      selections.some(({ start, end }) => start.line <= last && end.line > first);
    const lines = seen.meet(long).flatMap((fold) => (isBusy(fold) ? [] : [fold.first]));
    if (lines.length === 0) return;
    const inFront = { levels: 1, direction: 'down', selectionLines: lines };
    void vscode.commands.executeCommand('editor.fold', inFront);
  }

  #foldsOf(document: vscode.TextDocument): readonly (Fold & Lines)[] {
    return planFolds(document.getText(), chatOf(document), this.#shapes).flatMap((fold) => {
      const first = document.positionAt(fold.start).line;
      const last = document.positionAt(fold.end).line;
      return last > first ? [{ ...fold, first, last }] : [];
    });
  }
}

interface Lines {
  readonly first: number;
  readonly last: number;
}
