import { TimeSlice } from '../base/async.ts';
import { defined } from '../base/json.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { sniffBytes } from '../media/sniff.ts';
import { type MediaType, UNKNOWN } from '../media/table.ts';
import type { AssetBytes, Spill } from '../ports/results.ts';
import { detectTextType } from './markdown.ts';

export type Piece = string | Found;

/** Bytes, or a spill that was not kept: it was too large, or the disk failed. */
export type Found = FoundBytes | Exclude<Spill, { readonly kind: 'bytes' }>;

interface FoundBytes {
  readonly kind: 'bytes';
  readonly bytes: AssetBytes;
  readonly declared?: string;
  /** The text of the Markdown link or image around the bytes. */
  readonly label?: string;
  /** The name beside the bytes in JSON, sanitized. */
  readonly name?: string;
  readonly summary?: string;
}

/** Searches text for base64 that no block type and no setting declares. */
export async function findBase64(text: string): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  const slice = new TimeSlice();
  let from = 0;
  for await (const run of findBase64Runs(text, slice)) {
    if (slice.isOver()) await slice.pause();
    const found = await recognize(run, standsAlone(text, run));
    if (slice.isOver()) await slice.pause();
    if (!found) continue;
    const around = markdownAround(text, run, from);
    pieces.push(text.slice(from, around.start), { ...found, ...around.label });
    from = around.end;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== '');
}

/**
 * Text that could be base64: a long run of digits, plain or URL-safe, in one line or in lines of equal width, also
 * escaped as in nested JSON (`\/` and `\n`).
 */
interface Base64Run {
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

const MIN_SIGNED_BYTES = 48;

/** Signatures of two bytes also occur in ordinary words, so they need more data. */
const MIN_WEAKLY_SIGNED_BYTES = 256;

const MIN_UNSIGNED_CHARS = 2000;

/** Enough to recognize every format except those inside a ZIP; a multiple of four. */
const HEAD_CHARS = 8192;

async function recognize(run: Base64Run, alone: boolean): Promise<FoundBytes | undefined> {
  if (run.length % 4 === 1 || (run.padding > 0 && (run.length + run.padding) % 4 !== 0)) return undefined;
  const claim = run.declared === undefined ? await detectHead(run, alone) : { declared: run.declared };
  if (!claim || (holds(run, '-', '_') && holds(run, '+', '/'))) return undefined;
  // Buffer's 'base64' accepts both alphabets.
  return { kind: 'bytes', bytes: Buffer.from(run.pieces.join(''), 'base64'), ...claim };
}

async function detectHead(
  run: Base64Run,
  alone: boolean,
): Promise<{ readonly declared?: string } | undefined> {
  const digits = firstDigits(run);
  if (await signedType(digits, (run.length * 3) / 4)) return {};
  const unsigned = alone && isCanonical(run) ? detectUnsigned(Buffer.from(digits, 'base64')) : undefined;
  return unsigned && { declared: unsigned.types[0] };
}

/** The type by its signature, if there are enough bytes to rule out an ordinary word. */
export async function signedType(digits: string, byteCount: number): Promise<MediaType | undefined> {
  const signed = await sniffBytes(Buffer.from(digits, 'base64'));
  return signed && byteCount >= minSize(signed, digits) ? signed : undefined;
}

function firstDigits({ pieces }: Base64Run): string {
  let digits = '';
  for (const piece of pieces) {
    digits += piece.slice(0, HEAD_CHARS);
    if (digits.length >= HEAD_CHARS) break;
  }
  return digits.slice(0, HEAD_CHARS);
}

function holds({ pieces }: Base64Run, ...signs: readonly string[]): boolean {
  return signs.some((sign) => pieces.some((piece) => piece.includes(sign)));
}

/** As an encoder writes it: plain alphabet, padded, and the unused bits are zero. */
function isCanonical(run: Base64Run): boolean {
  if (run.length < MIN_UNSIGNED_CHARS || (run.length + run.padding) % 4 !== 0) return false;
  const end = run.pieces
    .slice(-4)
    .join('')
    .slice(-(run.length % 4) || Number.POSITIVE_INFINITY);
  return !holds(run, '-', '_') && Buffer.from(end, 'base64').toString('base64').startsWith(end);
}

const STRONGLY_SIGNED = new Set(
  'png jpg gif webp avif apng ico svg html tif heic jxl psd pdf docx xlsx pptx odt ods odp epub docm xlsm pptm rtf zip 7z rar xz zst tar wav ogg opus flac m4a mid mp4 mov webm mkv avi ogv sqlite parquet wasm woff woff2'.split(
    ' ',
  ),
);

const SIGNATURE_CHARS = 16;

function minSize(type: MediaType, digits: string): number {
  if (STRONGLY_SIGNED.has(type.extension)) return MIN_SIGNED_BYTES;
  // Without the signature, which may already look mixed.
  return isMixed(digits.slice(SIGNATURE_CHARS)) ? MIN_WEAKLY_SIGNED_BYTES : Number.POSITIVE_INFINITY;
}

/** Words, numbers, hexadecimal and gene sequences lack one of these. */
export function isMixed(digits: string): boolean {
  return /[A-Z]/.test(digits) && /[a-z]/.test(digits) && /[0-9]/.test(digits);
}

/** Noise has an entropy of almost 6 bits per digit; names and numbers have less than 5. */
const MIN_NOISE_BITS = 5.3;

const MIN_TEXT_BITS = 3.5;

/** Bytes without a signature count if they are noise or valid text. */
export function detectUnsigned(head: Uint8Array): MediaType | undefined {
  const digits = Buffer.from(head).toString('base64');
  const bits = entropy(digits);
  const text = bits >= MIN_TEXT_BITS ? readText(head) : undefined;
  if (text !== undefined) return detectTextType(text);
  const isNoise = bits >= MIN_NOISE_BITS && isMixed(digits) && /[+/]/.test(digits);
  return isNoise ? UNKNOWN : undefined;
}

/** UTF-8 without control characters. */
function readText(head: Uint8Array): string | undefined {
  const text = decodeUtf8(head, { isCut: true })?.replace(/^\uFEFF/, '');
  return text === undefined || /[\u0000-\u0008\u000e-\u001f\u007f]/.test(text) ? undefined : text;
}

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Whether a run is the whole text or a whole string in JSON, which may be nested. */
function standsAlone(text: string, { start, end }: Base64Run): boolean {
  const before = text.slice(Math.max(0, start - 32), start);
  const after = text.slice(end, end + 32);
  if (/^\s*$/.test(before) && /^\s*$/.test(after)) return start <= 32 && text.length - end <= 32;
  return /["']$/.test(before) && /^(?:(?:\\+r)?\\+n)?\\*["']/.test(after);
}

const MAX_LABEL_CHARS = 200;

function markdownAround(text: string, { start, end }: Base64Run, floor: number) {
  const before = text.slice(Math.max(floor, start - MAX_LABEL_CHARS), start);
  const opened = /!?\[([^[\]\n]*)\]\($/.exec(before);
  const closed = /^(?:[ \t]+"[^"\n]{0,100}")?\)/.exec(text.slice(end, end + MAX_LABEL_CHARS));
  if (!opened || !closed) return { start, end, label: {} };
  const label = defined({ label: opened[1]?.trim() || undefined });
  return { start: start - opened[0].length, end: end + closed[0].length, label };
}
