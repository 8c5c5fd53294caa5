import type { TimeSlice } from '../base/async.ts';

/**
 * Text that could be base64: a long run of digits, plain or URL-safe, in one line or in lines of equal width, also
 * escaped as in nested JSON (`\/` and `\n`).
 */
export interface Base64Run {
  /** Includes the head of a data: URL. */
  readonly start: number;
  /** Includes the padding. */
  readonly end: number;
  /** The digits in pieces, without line breaks, escapes and padding. */
  readonly pieces: readonly string[];
  readonly length: number;
  readonly padding: number;
  /** The type in the head of a data: URL, which may be empty. */
  readonly declared?: string;
}

/** Lines of base64 have 60, 64 or 76 characters. */
export const MIN_RUN_CHARS = 60;

/** Finds the runs in order, in linear time. In prose it looks only at one character in every few dozen. */
export async function* findBase64Runs(text: string, slice: TimeSlice): AsyncGenerator<Base64Run> {
  let from = 0;
  while (from + MIN_RUN_CHARS <= text.length) {
    const found = findDense(text, from, slice);
    if (found.kind === 'pause') await slice.pause();
    if (found.kind === 'run') {
      const run = await readRun(text, { floor: from, start: found.at }, slice);
      yield run;
      from = run.end;
    } else from = found.at;
  }
}

const [BACKSLASH, NEWLINE, RETURN] = [0x5c, 0x0a, 0x0d];
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';
const IS_DIGIT: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  DIGITS.includes(String.fromCharCode(code)) ? 1 : 0,
);

function isDigit(code: number): boolean {
  return IS_DIGIT[code] === 1;
}

function isDense(code: number): boolean {
  return isDigit(code) || code === BACKSLASH;
}

const MAX_PROBES = 5000;

/**
 * Finds the next row of MIN_RUN_CHARS digits. Starts at the last character of a possible row and goes backwards: a
 * character that is not a digit rules out all rows that contain it.
 */
function findDense(
  text: string,
  from: number,
  slice: TimeSlice,
): { readonly kind: 'run' | 'pause' | 'end'; readonly at: number } {
  let start = from;
  for (let probes = 1; start + MIN_RUN_CHARS <= text.length; probes += 1) {
    let at = start + MIN_RUN_CHARS - 1;
    while (at >= start && isDense(text.charCodeAt(at))) at -= 1;
    if (at < start) return { kind: 'run', at: start };
    start = at + 1;
    if (probes % MAX_PROBES === 0 && slice.isOver()) return { kind: 'pause', at: start };
  }
  return { kind: 'end', at: text.length };
}

const BREAK = /^(?:\r?\n|(?:\\+r)?\\+n)/;
const ESCAPED_SLASH = /^\\+(?=\/)/;
const PADDING = /^(?:=|\\+u003d){1,2}/i;
/** Enough for the patterns above in JSON of any realistic nesting. */
const MAX_SIGN_CHARS = 32;

async function readRun(
  text: string,
  { floor, start }: { readonly floor: number; readonly start: number },
  slice: TimeSlice,
): Promise<Base64Run> {
  const first = skipEscapes(text, start);
  const { end, pieces, length } = await readDigits(text, first, slice);
  const padded = signAt(PADDING, text, end);
  const padding = text.slice(end, end + padded).match(/=|3d/gi)?.length ?? 0;
  const head = readDataUrlHead(text, first, floor);
  return { start: first, end: end + padded, pieces, length, padding, ...head };
}

async function readDigits(text: string, first: number, slice: TimeSlice) {
  const pieces: string[] = [];
  let length = 0;
  let lineChars = 0;
  let width: number | undefined;
  for (let at = first; ; ) {
    const end = endOfDigits(text, at);
    pieces.push(text.slice(at, end));
    length += end - at;
    lineChars += end - at;
    if (slice.isOver()) await slice.pause();
    if (end === at + MAX_PIECE_CHARS) {
      at = end;
      continue;
    }
    const next = nextLine(text, end, { lineChars, width: width ?? lineChars });
    if (next === undefined) return { end, pieces, length };
    if (next.isBreak) {
      width = lineChars;
      lineChars = 0;
    }
    at = next.at;
  }
}

/** Where the digits continue: after the backslashes of an escaped slash, or after a line break. */
function nextLine(
  text: string,
  end: number,
  { lineChars, width }: { readonly lineChars: number; readonly width: number },
): { readonly at: number; readonly isBreak: boolean } | undefined {
  const sign = text.charCodeAt(end);
  if (sign !== BACKSLASH && sign !== NEWLINE && sign !== RETURN) return undefined;
  const slash = signAt(ESCAPED_SLASH, text, end);
  if (slash > 0) return { at: end + slash, isBreak: false };
  const at = end + signAt(BREAK, text, end);
  const isFull = lineChars >= MIN_RUN_CHARS && lineChars === width;
  return at > end && isFull && isLineOf(text, at, width) ? { at, isBreak: true } : undefined;
}

const MAX_PIECE_CHARS = 200_000;

/** Letters of escapes are not digits: in `\niVBOR…` the run begins after the n. */
function skipEscapes(text: string, start: number): number {
  let at = start;
  while (text[at] === '\\' && at < start + MAX_PIECE_CHARS) {
    while (text[at] === '\\' && at < start + MAX_PIECE_CHARS) at += 1;
    at += /^u[0-9a-f]{4}|^[nrtbf]/i.exec(text.slice(at, at + 5))?.[0].length ?? 0;
  }
  return at;
}

function endOfDigits(text: string, from: number): number {
  const stop = Math.min(text.length, from + MAX_PIECE_CHARS);
  let end = from;
  while (end < stop && isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** A line continues the run if it contains only digits and is not longer than the full lines before it. */
function isLineOf(text: string, start: number, width: number): boolean {
  let digits = 0;
  let at = start;
  for (; digits <= width; at += 1) {
    if (isDigit(text.charCodeAt(at))) digits += 1;
    else if (text[at] !== '\\' || (text[at + 1] !== '/' && text[at + 1] !== '\\')) break;
  }
  return digits > 0 && digits <= width && (at >= text.length || /[\s"'\\=<)`]/.test(text.charAt(at)));
}

function signAt(pattern: RegExp, text: string, at: number): number {
  return pattern.exec(text.slice(at, at + MAX_SIGN_CHARS))?.[0].length ?? 0;
}

const MAX_DATA_URL_HEAD_CHARS = 200;
const DATA_URL_HEAD = /^data:([a-z0-9.+\\/-]*)(?:;[a-z0-9.+=_"-]*)*;base64,$/i;

function readDataUrlHead(
  text: string,
  start: number,
  floor: number,
): { readonly start: number; readonly declared: string } | undefined {
  if (text[start - 1] !== ',') return undefined;
  const before = text.slice(Math.max(floor, start - MAX_DATA_URL_HEAD_CHARS), start);
  const at = before.toLowerCase().lastIndexOf('data:');
  const match = at < 0 ? null : DATA_URL_HEAD.exec(before.slice(at));
  if (!match) return undefined;
  const declared = match[1]?.replaceAll('\\', '').toLowerCase() ?? '';
  return { start: start - match[0].length, declared };
}
