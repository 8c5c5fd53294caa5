import { PasteError } from './types.ts';

const PIECE = /\s+|\\*["']|\\+|[^\s\\"']+/g;

/**
 * Splits a command line into words. There is no shell: only quotes are special. A backslash escapes only a double
 * quote (`\"`) or a backslash before one (`\\"`), so that Windows paths need no escaping. Throws if a quote is open.
 */
export function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let open: string | undefined;
  for (const [piece] of line.matchAll(PIECE)) {
    const last = piece.at(-1) ?? '';
    const isOther = open !== undefined && last !== open;
    if (open === undefined && piece.trim() === '') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (isOther || (last !== '"' && last !== "'")) {
      word = `${word ?? ''}${piece}`;
    } else {
      const { text, isQuote } = readQuote(piece);
      word = `${word ?? ''}${text}`;
      if (isQuote) open = open === undefined ? last : undefined;
    }
  }
  if (open !== undefined) throw new PasteError({ kind: 'quote', quote: open });
  return word === undefined ? words : [...words, word];
}

/** Reads backslashes followed by a quote. `isQuote` is false when the quote is escaped. */
function readQuote(piece: string): { readonly text: string; readonly isQuote: boolean } {
  const backslashes = piece.slice(0, -1);
  if (piece.endsWith("'")) return { text: backslashes, isQuote: true };
  const half = backslashes.slice(0, Math.floor(backslashes.length / 2));
  return backslashes.length % 2 === 0 ? { text: half, isQuote: true } : { text: `${half}"`, isQuote: false };
}
