import * as vscode from 'vscode';
import { Throttle } from '../../base/async.ts';
import { type Fold, isFoldedInitially, planFolds, SeenFolds } from '../../chat/outline/folds.ts';
import type { TurnShapes } from '../../chat/outline/turnShape.ts';
import { chatOf } from '../chat/openChats.ts';
import type { Runs } from '../run/runs.ts';

const THROTTLE_MS = 150;

type RunState = Pick<Runs, 'isRunning' | 'onDidChange'>;

/** Folds turns, calls, results, reasoning and front matter. Long ones are closed when they first appear. */
export class TurnFolds implements vscode.FoldingRangeProvider, vscode.Disposable {
  readonly #shapes: TurnShapes;
  readonly #runs: RunState;
  readonly #seen = new WeakMap<vscode.TextDocument, SeenFolds>();
  /** Chats whose folds are closed when their cursor is visible again. */
  readonly #pending = new WeakSet<vscode.TextDocument>();
  readonly #throttle = new Throttle(THROTTLE_MS);
  readonly #subscriptions: vscode.Disposable;

  constructor(shapes: TurnShapes, runs: RunState) {
    this.#shapes = shapes;
    this.#runs = runs;
    const retry = ({ textEditor }: { readonly textEditor: vscode.TextEditor }) => {
      if (this.#pending.has(textEditor.document)) this.#closeSoon(textEditor.document);
    };
    this.#subscriptions = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.#closeSoon(editor.document)),
      vscode.window.onDidChangeTextEditorSelection(retry),
      vscode.window.onDidChangeTextEditorVisibleRanges(retry),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) =>
        this.#seen.get(document)?.applyChanges(contentChanges),
      ),
      runs.onDidChange(() => this.#closeLong(vscode.window.activeTextEditor)),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#throttle.dispose();
  }

  /** VS Code calls this whenever it computes folds; only then can some be closed. */
  provideFoldingRanges(document: vscode.TextDocument): vscode.FoldingRange[] {
    this.#closeSoon(document);
    return this.#foldsOf(document).map(({ first, last }) => new vscode.FoldingRange(first, last));
  }

  #closeSoon(document: vscode.TextDocument): void {
    if (vscode.window.activeTextEditor?.document !== document) return;
    this.#throttle.run(document.uri.toString(), () => this.#closeLong(vscode.window.activeTextEditor));
  }

  /**
   * `editor.fold` works on the active editor only and scrolls to its cursor. So it waits while the cursor is out of
   * view or the chat runs.
   */
  #closeLong(editor: vscode.TextEditor | undefined): void {
    if (!editor?.document.uri.path.endsWith('.chat.md')) return;
    const { document, selections } = editor;
    if (this.#runs.isRunning(document.uri)) return;
    if (!isCursorVisible(editor)) {
      this.#pending.add(document);
      return;
    }
    this.#pending.delete(document);
    const seen = this.#seen.get(document) ?? new SeenFolds();
    this.#seen.set(document, seen);
    const long = this.#foldsOf(document).filter(({ kind, first, last }) =>
      isFoldedInitially(kind, last - first + 1),
    );
    const hasCursor = ({ first, last }: Lines) =>
      selections.some(({ start, end }) => start.line <= last && end.line > first);
    const selectionLines = seen.takeNew(long, Date.now(), hasCursor).map(({ first }) => first);
    if (selectionLines.length === 0) return;
    void vscode.commands.executeCommand('editor.fold', { levels: 1, direction: 'down', selectionLines });
  }

  #foldsOf(document: vscode.TextDocument): readonly (Fold & Lines)[] {
    return planFolds(document.getText(), chatOf(document), this.#shapes).flatMap((fold) => {
      const first = document.positionAt(fold.start).line;
      const last = document.positionAt(fold.end).line;
      return last > first ? [{ ...fold, first, last }] : [];
    });
  }
}

function isCursorVisible({ visibleRanges, selection }: vscode.TextEditor): boolean {
  const { line } = selection.active;
  return (
    visibleRanges.length === 0 ||
    visibleRanges.some(({ start, end }) => start.line <= line && line <= end.line)
  );
}

interface Lines {
  readonly first: number;
  readonly last: number;
}
