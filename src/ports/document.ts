import type { Failure } from './failures.ts';
import type { AuditedFile, GivenFile, ToolCall } from './tools.ts';

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
  /** Decides what the user can do next. */
  readonly failure?: Failure | undefined;
  /** The user cancelled, so no message is shown. */
  readonly cancelled?: boolean;
  /** The reply was interrupted and can be resumed. */
  readonly resumable?: boolean;
  /** The user changed or closed the chat while a call waited for permission, so it is left as it is. */
  readonly untouched?: boolean;
  /** The user declined a call and is about to write why. */
  readonly declined?: boolean;
  /** The reply or result could not be written to the chat; a copy was saved. */
  readonly lost?: boolean;
  /** The paths of the new links. */
  readonly assets: readonly string[];
}

/* Files that the user gives to models and tools. */

/** The files that turns link to. */
export interface AttachmentSource {
  /**
   * Takes the decoded target of a link. Rejects with a message for the chat if the file does not exist, or is outside
   * of the folders and the user did not allow it. An abort withdraws the question to the user.
   */
  find(target: string, signal?: AbortSignal): Promise<AttachedFile>;
}

/** A file that a turn links to, with only its head in memory, or the listing of a folder, which is text. */
export interface AttachedFile {
  readonly name: string;
  readonly size: number;
  /** Detected from the bytes, then from the name. Text types only if the file is UTF-8. */
  readonly mimeType: string;
  readonly isText: boolean;
  readonly isFolder?: boolean;
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

/** A file in a tool argument: an asset of this chat, or a path relative to the chat or absolute. */
export type FileReference =
  | { readonly kind: 'asset'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** A file that may be given to a tool. Only its head has been read. */
export interface FoundFile {
  readonly name: string;
  /** The real path, with symbolic links resolved. */
  readonly path: string;
  readonly size: number;
  readonly mimeType: string;
  /** The whole file as base64. Rejects with a message for the chat, also if the file has changed. */
  read(signal?: AbortSignal): Promise<string>;
}

export interface FileSource {
  /** Rejects with a message for the chat if the file does not exist or may not be read. */
  find(reference: FileReference, wanted: 'bytes' | 'path'): Promise<FoundFile>;
}

/** Replaces file references in arguments by the form that the tool's schema requires. The chat keeps the references. */
export interface FileArguments {
  /** Finds the files before the user is asked for permission. Never rejects. */
  prepare(args: ToolCall['arguments'], inputSchema: unknown): Promise<PreparedArguments>;
}

export type PreparedArguments =
  | {
      readonly ok: true;
      /** One line per file: its argument, its form, its real path and its size. */
      readonly notes: readonly string[];
      /** Each file once, by its reference, for the audit log. */
      readonly files: readonly AuditedFile[];
      /** Each file once, to show to the user. */
      readonly given?: readonly GivenFile[];
      /** Reads the files that were found. Rejects only on abort. */
      resolve(signal?: AbortSignal): Promise<ResolvedArguments>;
    }
  | { readonly ok: false; readonly message: string };

export type ResolvedArguments =
  | { readonly ok: true; readonly arguments: ToolCall['arguments'] }
  | { readonly ok: false; readonly message: string };
