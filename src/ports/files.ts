/** Files that the user gives to models and tools. */
import type { ToolCall } from './tools.ts';

/** The files that turns link to. */
export interface AttachmentSource {
  /**
   * Takes the decoded target of a link. Rejects with a message for the chat if the file does not exist, or is outside
   * of the folders and the user did not allow it.
   */
  find(target: string): Promise<AttachedFile>;
}

/** A file that a turn links to. Only its head has been read. */
export interface AttachedFile {
  readonly name: string;
  readonly size: number;
  /** Detected from the bytes, then from the name. Text types only if the file is UTF-8. */
  readonly mimeType: string;
  readonly isText: boolean;
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
      /** Reads the files that were found. Rejects only on abort. */
      resolve(signal?: AbortSignal): Promise<ResolvedArguments>;
    }
  | { readonly ok: false; readonly message: string };

export type ResolvedArguments =
  | { readonly ok: true; readonly arguments: ToolCall['arguments'] }
  | { readonly ok: false; readonly message: string };
