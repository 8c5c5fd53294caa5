import type { FoundEntry } from './types.ts';

export interface WindowRequest {
  /** In bytes. */
  readonly start?: number | undefined;
  /** No more than this is returned, and hardly more is read. */
  readonly maxBytes: number;
  /** `bytes` gives text as bytes too. */
  readonly as?: 'auto' | 'bytes' | undefined;
}

/** A piece of a file. Its text ends between two characters; `start` is where it really begins. */
export interface FileWindow {
  readonly mimeType: string;
  readonly totalBytes: number;
  readonly start: number;
  readonly byteCount: number;
  /** Where to go on; nothing at the end. */
  readonly nextStart?: number;
  readonly body:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'bytes'; readonly bytes: Uint8Array };
}

/** Takes time and memory for the window, whatever the size of the file. Rejects with a `CatalogRefusal`. */
export async function readWindow(_found: FoundEntry, _request: WindowRequest): Promise<FileWindow> {
  throw new Error('to be built');
}
