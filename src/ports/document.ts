/** The document that a run writes to, and what a run came to. */

export interface Disposable {
  dispose(): void;
}

export interface Log {
  /** Left out where nobody would read it. */
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
 * A chat that is open somewhere: in an editor, or as a file on the command line.
 * Callers give a function of the current text, so no offset has to live across an `await`.
 */
export interface ChatDocument {
  text(): string;
  /** Resolves to false when there was nothing to change or the document refused the change. */
  edit(compute: (text: string) => TextEdit | undefined, options?: EditOptions): Promise<boolean>;
  /**
   * Resolves when a crash or a power cut can no longer take back the edits so far; to false when they could not be
   * saved. A document without a file has nothing to save.
   */
  save(): Promise<boolean>;
  onDidChange(listener: (change: DocumentChange) => void): Disposable;
}

export interface EditOptions {
  /** Undone together with the edit before it, where the document can do that. */
  readonly joinUndo?: boolean;
}

export interface DocumentChange {
  /** The change took something back, or did it again. */
  readonly undo: boolean;
}

/** What `filechat.run` and `filechat.callTool` return. `assets` are the links that were written. */
export interface RunOutcome {
  readonly ok: boolean;
  readonly error?: string;
  /** The user called it off, and so knows already. */
  readonly cancelled?: boolean;
  /** The reply was cut, and `resume` would go on with it. */
  readonly resumable?: boolean;
  /** The id of the call that the user wants to change before it is made. */
  readonly edit?: string;
  /** The document did not take what came; whoever rescues it has it. */
  readonly lost?: boolean;
  readonly assets: readonly string[];
}
