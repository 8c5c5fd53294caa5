import type { Box } from '../imageLimits.ts';
import type { ImageSize } from '../measure.ts';

/** What the worker is asked to do. */
export type Job = ImageJob | DocumentJob;

export interface ImageJob {
  readonly kind: 'image';
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly orientation: number;
  /** After turning it as the orientation says. */
  readonly size: ImageSize;
  readonly boxes: readonly Box[];
  readonly maxBytes: number;
}

export interface DocumentJob {
  readonly kind: 'document';
  readonly bytes: Uint8Array;
  readonly reader: DocumentReader;
  /** Counted from 1; undefined for all. */
  readonly pages?: readonly PageRange[] | undefined;
}

/** `last` is undefined for all pages from the first one on. */
export interface PageRange {
  readonly first: number;
  readonly last?: number | undefined;
}

export type DocumentReader = 'pdf' | 'office' | 'sheet' | 'html' | 'notebook' | 'mail' | 'zip' | 'plain';

export interface ConvertedImage {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A document as Markdown. */
export interface DocumentText {
  /** Undefined for documents without pages. */
  readonly unit?: 'page' | 'slide' | 'sheet' | undefined;
  /** The number of pages of the whole document. */
  readonly total?: number | undefined;
  readonly sections: readonly Section[];
  /** The document has more text than was read. */
  readonly isCut?: boolean | undefined;
}

export interface Section {
  /** Of the page, counted from 1. */
  readonly number?: number | undefined;
  readonly title?: string | undefined;
  readonly text: string;
}

/** The longest text of a document. */
export const MAX_DOCUMENT_CHARS = 5_000_000;

export type Outcome =
  | { readonly kind: 'image'; readonly images: readonly ConvertedImage[] }
  | { readonly kind: 'document'; readonly document: DocumentText }
  /** A clause for a sentence: “it is protected by a password”. */
  | { readonly kind: 'failed'; readonly reason: string };

/** A failure whose message is such a clause. */
export class ConversionError extends Error {}
