import * as vscode from 'vscode';
import { caretAfterRun } from '../../chat/edits/typing.ts';

/**
 * Scrolls editors along with a running chat and moves the caret to the end of the chat after the run, unless the user
 * scrolls up or moves the caret. A tab in the background catches up when it is shown, also after the run.
 */
export class EndFollower implements vscode.Disposable {
  readonly #chat: { readonly uri: vscode.Uri };
  readonly #before: string;
  readonly #visible = new Map<vscode.TextEditor, EditorState>();
  /** By column, because a tab that is shown again has a new editor. */
  readonly #hidden = new Map<vscode.ViewColumn | undefined, EditorState>();
  readonly #subscriptions: vscode.Disposable;
  readonly #onDone: () => void;
  #isFinished = false;

  constructor(chat: { readonly uri: vscode.Uri; text(): string }, onDone: () => void) {
    this.#chat = chat;
    this.#onDone = onDone;
    this.#before = chat.text();
    for (const editor of this.#editors()) {
      this.#visible.set(editor, { ...viewOf(editor), isCaretUntouched: true, isReported: true });
    }
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isAt(document, this.#chat.uri)) this.#follow();
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#update()),
      vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => this.#scrolled(textEditor)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
        // A move by an edit has no kind.
        const state = this.#visible.get(textEditor);
        if (state && kind !== undefined) state.isCaretUntouched = false;
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#onDone();
  }

  /** Call this after the run. In background tabs, the caret moves when they are shown again. */
  finish(): void {
    this.#update();
    this.#isFinished = true;
    for (const [column, state] of this.#hidden) if (!isFollowed(state)) this.#hidden.delete(column);
    for (const [editor, state] of this.#visible) if (state.isReported) this.#release(editor, state);
    if (this.#isDone) this.dispose();
  }

  get #isDone(): boolean {
    return this.#isFinished && this.#visible.size === 0 && this.#hidden.size === 0;
  }

  #release(editor: vscode.TextEditor, state: EditorState): void {
    this.#visible.delete(editor);
    if (isFollowed(state)) moveCaret(editor, this.#before);
  }

  #editors(): readonly vscode.TextEditor[] {
    return vscode.window.visibleTextEditors.filter(({ document }) => isAt(document, this.#chat.uri));
  }

  #update(): void {
    const editors = this.#editors();
    for (const [editor, state] of this.#visible) {
      if (editors.includes(editor)) continue;
      this.#visible.delete(editor);
      this.#hidden.set(editor.viewColumn, state);
    }
    for (const editor of editors) if (!this.#visible.has(editor)) void this.#adopt(editor);
  }

  /** A new editor starts at the top; VS Code reports its view and caret a moment later. */
  async #adopt(editor: vscode.TextEditor): Promise<void> {
    const known = this.#hidden.get(editor.viewColumn);
    if (this.#isFinished && !known) return;
    this.#hidden.delete(editor.viewColumn);
    const isCaretUntouched =
      known?.isCaretUntouched ?? [...this.#visible.values()].every((each) => each.isCaretUntouched);
    const state: EditorState = { ...viewOf(editor), isCaretUntouched, isReported: false };
    this.#visible.set(editor, state);
    await pendingEvents();
    // The user may have opened the chat at another place, for example from a search result.
    const isMoved = isCaretUntouched && !state.isCaretUntouched;
    state.isAtEnd = known && !isMoved ? known.isAtEnd : viewOf(editor).isAtEnd;
    state.isReported = true;
    if (state.isAtEnd) revealEnd(editor);
    if (this.#isFinished) this.#release(editor, state);
    if (this.#isDone) this.dispose();
  }

  #follow(): void {
    if (this.#isFinished) return;
    // The editor of a renamed chat is visible before the rename is reported.
    this.#update();
    for (const [editor, { isAtEnd }] of this.#visible) if (isAtEnd) revealEnd(editor);
  }

  /** Only the user scrolls up; then the view stays there. */
  #scrolled(editor: vscode.TextEditor): void {
    const state = this.#visible.get(editor);
    if (!state) return;
    const { top } = viewOf(editor);
    if (top < state.top) state.isAtEnd = false;
    // Not because of the caret, which the reply moves along while the user reads above.
    else if (isEndVisible(editor)) state.isAtEnd = true;
    state.top = top;
  }
}

interface View {
  top: number;
  isAtEnd: boolean;
}

interface EditorState extends View {
  /** The user has not moved the caret since the run started. */
  isCaretUntouched: boolean;
  /** False until VS Code has reported the view and the caret of a new editor. */
  isReported: boolean;
}

function isFollowed({ isAtEnd, isCaretUntouched }: EditorState): boolean {
  return isAtEnd && isCaretUntouched;
}

function moveCaret(editor: vscode.TextEditor, before: string): void {
  const { document, selection } = editor;
  const caret = document.offsetAt(selection.active);
  const target = document.positionAt(caretAfterRun({ before, after: document.getText(), caret }));
  // Setting it again would take back what was typed meanwhile: VS Code tells of typed text a moment later.
  if (!selection.isEmpty || !selection.active.isEqual(target)) {
    editor.selection = new vscode.Selection(target, target);
  }
  editor.revealRange(new vscode.Range(target, target));
}

/** At the end: the last line is visible, or the caret is there. */
function viewOf(editor: vscode.TextEditor): View {
  const isWritten = editor.selection.active.line >= editor.document.lineCount - 2;
  return { top: editor.visibleRanges[0]?.start.line ?? 0, isAtEnd: isEndVisible(editor) || isWritten };
}

function isEndVisible({ document, visibleRanges }: vscode.TextEditor): boolean {
  return visibleRanges.some(({ end }) => end.line >= document.lineCount - 1);
}

function revealEnd(editor: vscode.TextEditor): void {
  const last = editor.document.lineCount - 1;
  editor.revealRange(new vscode.Range(last, 0, last, 0));
}

function isAt({ uri }: vscode.TextDocument, place: vscode.Uri): boolean {
  return uri.toString() === place.toString();
}

/** Resolves after all events that VS Code has sent so far: the response to a command comes after them. */
async function pendingEvents(): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'filechat.events', true);
}
