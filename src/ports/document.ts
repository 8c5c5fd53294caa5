/** The document that a run writes to, and the outcome of a run. */

export interface Disposable {
  dispose(): void;
}

export interface Log {
  /** Optional: the command line has no debug log. */
  debug?(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** Replaces the characters from `start` up to `end` (offsets in UTF-16 units) with `text`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * A chat in an editor, or a file on the command line. Edits are functions of the current text, so that no offset lives
 * across an `await`.
 */
export interface ChatDocument {
  text(): string;
  /** Resolves to false if there was nothing to change or the document refused the edit. */
  edit(compute: (text: string) => TextEdit | undefined, options?: EditOptions): Promise<boolean>;
  /** Resolves when all edits are safe from a crash, or to false if the save failed. Does nothing without a file. */
  save(): Promise<boolean>;
  onDidChange(listener: (change: DocumentChange) => void): Disposable;
}

export interface EditOptions {
  /** Undo takes back this edit together with the previous one, if the document supports that. */
  readonly joinUndo?: boolean;
}

export interface DocumentChange {
  /** Whether the change was an undo or a redo. */
  readonly undo: boolean;
}

/** The result of `filechat.run` and `filechat.callTool`. */
export interface RunOutcome {
  readonly ok: boolean;
  readonly error?: string;
  /** The user cancelled, so no message is shown. */
  readonly cancelled?: boolean;
  /** The reply was interrupted and can be resumed. */
  readonly resumable?: boolean;
  /** The id of the call that the user wants to edit first. */
  readonly edit?: string;
  /** The reply or result could not be written to the chat; a copy was saved. */
  readonly lost?: boolean;
  /** The paths of the new links. */
  readonly assets: readonly string[];
}
