/** Files that the user gives to models and tools. */
import type { ToolCall } from './tools.ts';

/** The files that turns link to. */
export interface AttachmentSource {
  /**
   * `target` is a link's target as it stands in the turn, decoded. Rejects with a message fit for the document:
   * for what is not there, and for what is outside and nobody agreed to.
   */
  find(target: string): Promise<AttachedFile>;
}

/** A file that a turn links to. Nothing of it has been read but its head. */
export interface AttachedFile {
  readonly name: string;
  readonly size: number;
  /** By its bytes, then by its name; `text/…` or `application/json` and the like only if it is UTF-8 text. */
  readonly mimeType: string;
  readonly isText: boolean;
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

/** A file that an argument names: an asset of this chat, or a path from the chat's folder or from the root. */
export type FileReference =
  | { readonly kind: 'asset'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** A file that may be given to a tool. Nothing of it has been read but its head. */
export interface FoundFile {
  readonly name: string;
  /** The real one, with every symbolic link followed. */
  readonly path: string;
  readonly size: number;
  readonly mimeType: string;
  /** The whole file as base64. Rejects with a message fit for the document, also when the file has changed. */
  read(signal?: AbortSignal): Promise<string>;
}

export interface FileSource {
  /** Rejects with a message fit for the document: for what is not there, and for what may not be given away. */
  find(reference: FileReference, wanted: 'bytes' | 'path'): Promise<FoundFile>;
}

/** Turns references to files into what a tool's schema asks for; the chat keeps the references. */
export interface FileArguments {
  /** Looks for the files before anybody is asked. Never rejects. */
  prepare(args: ToolCall['arguments'], inputSchema: unknown): Promise<PreparedArguments>;
}

export type PreparedArguments =
  | {
      readonly ok: true;
      /** One line for each file: where it goes, as what, which file it really is, and its size. */
      readonly notes: readonly string[];
      /** Reads the files: those that were found, or none. Rejects only when the signal says so. */
      resolve(signal?: AbortSignal): Promise<ResolvedArguments>;
    }
  | { readonly ok: false; readonly message: string };

export type ResolvedArguments =
  | { readonly ok: true; readonly arguments: ToolCall['arguments'] }
  | { readonly ok: false; readonly message: string };
