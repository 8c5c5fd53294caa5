import { hasManyValues, parseJson } from '../base/json.ts';

export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** An object or a list in JSON. Of a very long one, only the ends are looked at. */
export function isJson(text: string, isCut = false): boolean {
  if (!looksLikeJson(text)) return false;
  const isLong = isCut || text.length > MAX_PARSED_CHARS || hasManyValues(text);
  return isLong ? /[\]}]\s*$/.test(text.slice(-MAX_END_CHARS)) : parseJson(text) !== undefined;
}

const MAX_PARSED_CHARS = 8_000_000;
const MAX_END_CHARS = 100;

const MAX_CHARS = 400_000;
/** Deeper JSON could overflow the stack. */
const MAX_BRACKETS = 2000;
/** A longer column, for example of numbers, is harder to read than a line. */
const MAX_LINES = 400;

/** Lays out JSON without white space for reading. Undefined for any other, and if the layout would be too long. */
export function layOut(json: string): string | undefined {
  if (json.includes('\n') || !looksLikeJson(json) || isLarge(json)) return undefined;
  const value = parseJson(json);
  if (value === undefined || JSON.stringify(value) !== json) return undefined;
  const lines = JSON.stringify(value, null, 2);
  return lines === json || lines.split('\n').length > MAX_LINES ? undefined : lines;
}

/** The inverse of `layOut`. Undefined if the text was edited and is not JSON. */
export function joinLines(laidOut: string): string | undefined {
  const value = isLarge(laidOut) ? undefined : parseJson(laidOut);
  return value === undefined ? undefined : JSON.stringify(value);
}

function isLarge(json: string): boolean {
  return json.length > MAX_CHARS || (json.match(/[[{]/g)?.length ?? 0) > MAX_BRACKETS;
}
