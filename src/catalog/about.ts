/** What reading something costs, so that nobody pours a film into a context by accident. */
export interface ReadingCost {
  readonly estimatedTokens: number;
  /** A client may read it without asking. */
  readonly autoReadSafe: boolean;
  readonly largeFileWarning: boolean;
}

export const AUTO_READ_BYTES = 1024 * 1024;
export const AUTO_READ_TOKENS = 10_000;

export function readingCost(_file: { readonly mimeType: string; readonly size: number }): ReadingCost {
  throw new Error('to be built');
}
