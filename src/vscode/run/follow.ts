import * as vscode from 'vscode';
import { caretAfterRun } from '../../chat/edits/typing.ts';

/**
 * Keeps the end of a running chat in view where the user reads at the end, and puts the caret where the user writes
 * next when the run has ended. An editor whose user scrolls up or moves the caret is left alone. A tab in the
 * background catches up when it is shown, also after the run.
 */
export class EndFollower implements vscode.Disposable {
  readonly #chat: { readonly uri: vscode.Uri };
  /** The text when the run began. */
  readonly #before: string;
  /** The editors that show the chat now. */
  readonly #places = new Map<vscode.TextEditor, Place>();
  /** The columns that have shown the chat before. A tab that comes to the front again has a new editor. */
  readonly #hidden = new Map<vscode.ViewColumn | undefined, Place>();
  readonly #subscriptions: vscode.Disposable;
  readonly #onDone: () => void;
  #isFinished = false;

  constructor(chat: { readonly uri: vscode.Uri; text(): string }, onDone: () => void) {
    this.#chat = chat;
    this.#onDone = onDone;
    this.#before = chat.text();
    for (const editor of this.#editors()) {
      this.#places.set(editor, { ...viewOf(editor), isCaretOurs: true, isReported: true });
    }
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isAt(document, this.#chat.uri)) this.#follow();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#update()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.#scrolled(textEditor)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        // Edits move the caret too, but not by keyboard, mouse or command.
        const place = this.#places.get(textEditor);
        if (place && kind !== undefined) place.isCaretOurs = false;
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#onDone();
  }

  /** The run has ended. Where its tab is in the background, the caret moves when the tab is shown again. */
  finish(): void {
    this.#update();
    this.#isFinished = true;
    for (const [column, place] of this.#hidden) if (!isFollowed(place)) this.#hidden.delete(column);
    for (const [editor, place] of this.#places) if (place.isReported) this.#leave(editor, place);
    if (this.#isDone) this.dispose();
  }

  get #isDone(): boolean {
    return this.#isFinished && this.#places.size === 0 && this.#hidden.size === 0;
  }

  /** After the run each editor is looked after once. */
  #leave(editor: vscode.TextEditor, place: Place): void {
    this.#places.delete(editor);
    if (isFollowed(place)) moveCaret(editor, this.#before);
  }

  #editors(): readonly vscode.TextEditor[] {
    return vscode.window.visibleTextEditors.filter(({ document }) => isAt(document, this.#chat.uri));
  }

  #update(): void {
    const editors = this.#editors();
    for (const [editor, place] of this.#places) {
      if (editors.includes(editor)) continue;
      this.#places.delete(editor);
      this.#hidden.set(editor.viewColumn, place);
    }
    for (const editor of editors) if (!this.#places.has(editor)) void this.#adopt(editor);
  }

  /** A new editor begins at the top. The workbench reports a moment later where it has put the view and the caret. */
  async #adopt(editor: vscode.TextEditor): Promise<void> {
    const known = this.#hidden.get(editor.viewColumn);
    if (this.#isFinished && !known) return;
    this.#hidden.delete(editor.viewColumn);
    const isCaretOurs = known?.isCaretOurs ?? [...this.#places.values()].every((each) => each.isCaretOurs);
    const place: Place = { ...viewOf(editor), isCaretOurs, isReported: false };
    this.#places.set(editor, place);
    await eventsUntilNow();
    // A user who opened the chat at a place of their own wants to be there.
    const isMoved = isCaretOurs && !place.isCaretOurs;
    place.isAtEnd = known && !isMoved ? known.isAtEnd : viewOf(editor).isAtEnd;
    place.isReported = true;
    if (place.isAtEnd) revealEnd(editor);
    if (this.#isFinished) this.#leave(editor, place);
    if (this.#isDone) this.dispose();
  }

  #follow(): void {
    if (this.#isFinished) return;
    // The editor of a renamed chat was shown before its new name was known.
    this.#update();
    for (const [editor, { isAtEnd }] of this.#places) if (isAtEnd) revealEnd(editor);
  }

  /** Text that grows below the window moves nothing; whoever scrolls up wants to stay there. */
  #scrolled(editor: vscode.TextEditor): void {
    const place = this.#places.get(editor);
    if (!place) return;
    const now = viewOf(editor);
    if (now.top < place.top) place.isAtEnd = false;
    else if (now.isAtEnd) place.isAtEnd = true;
    place.top = now.top;
  }
}

interface View {
  /** The first line that is visible. */
  top: number;
  isAtEnd: boolean;
}

interface Place extends View {
  /** The user has not moved the caret since the run began. */
  isCaretOurs: boolean;
  /** False until it is known where the editor has put the view and the caret. */
  isReported: boolean;
}

/** Where the view follows, the caret follows, unless the user has moved it. */
function isFollowed({ isAtEnd, isCaretOurs }: Place): boolean {
  return isAtEnd && isCaretOurs;
}

function moveCaret(editor: vscode.TextEditor, before: string): void {
  const { document, selection } = editor;
  const caret = document.offsetAt(selection.active);
  const target = document.positionAt(caretAfterRun({ before, after: document.getText(), caret }));
  editor.selection = new vscode.Selection(target, target);
  editor.revealRange(editor.selection);
}

/** A user is at the end who sees it, or who writes there. */
function viewOf(editor: vscode.TextEditor): View {
  const last = editor.document.lineCount - 1;
  const isSeen = editor.visibleRanges.some(({ end }) => end.line >= last);
  const isWritten = editor.selection.active.line >= last - 1;
  return { top: editor.visibleRanges[0]?.start.line ?? 0, isAtEnd: isSeen || isWritten };
}

function revealEnd(editor: vscode.TextEditor): void {
  const last = editor.document.lineCount - 1;
  editor.revealRange(new vscode.Range(last, 0, last, 0));
}

function isAt({ uri }: vscode.TextDocument, place: vscode.Uri): boolean {
  return uri.toString() === place.toString();
}

/** Resolves when all has arrived that the workbench has reported up to now: a command's answer comes behind it. */
async function eventsUntilNow(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'filechat.events', true);
}
