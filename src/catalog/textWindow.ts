/** Bytes of a file, and where in it they are. */
export interface Surroundings {
  readonly bytes: Uint8Array;
  /** Where the first of them is in the file. */
  readonly offset: number;
  readonly totalBytes: number;
}

/** What is asked for, in bytes of the file. */
export interface Wanted {
  readonly start: number;
  readonly maxBytes: number;
}

export type TextWindow =
  | { readonly fits: true; readonly start: number; readonly end: number }
  /** Not one character fits; the first one needs this many bytes. */
  | { readonly fits: false; readonly neededBytes: number };

/** The most bytes that the rest of a character has, before a place or behind it. */
export const REST_BYTES = 3;

/**
 * A window that begins and ends between two characters, whatever the bytes are. A place within a character counts as
 * the beginning of that character, so that windows which follow each other leave nothing out and repeat nothing.
 */
export function textWindow(file: Surroundings, { start, maxBytes }: Wanted): TextWindow {
  const begin = characterStart(file, start);
  const end = characterStart(file, Math.min(begin + maxBytes, file.totalBytes));
  if (end === begin && begin < file.totalBytes)
    return { fits: false, neededBytes: lengthBy(byteAt(file, begin)) };
  return { fits: true, start: begin, end: end === file.totalBytes ? beforeHalfCharacter(file, begin) : end };
}

/** Where the character begins that a place is within, or the place itself. */
function characterStart(file: Surroundings, place: number): number {
  const first = leadBefore(file, place);
  if (first === undefined) return place;
  const from = first - file.offset;
  const end = from + lengthBy(byteAt(file, first));
  return end + file.offset > place && isCharacter(file.bytes.subarray(from, end), end - from) ? first : place;
}

/** A file that is still being written may end within a character; that comes alone, so that the rest is text. */
function beforeHalfCharacter(file: Surroundings, begin: number): number {
  const { totalBytes } = file;
  const first = leadBefore(file, totalBytes);
  if (first === undefined || first <= begin) return totalBytes;
  return first + lengthBy(byteAt(file, first)) > totalBytes ? first : totalBytes;
}

/** The nearest byte before a place that can be the first of a character which reaches it. */
function leadBefore(file: Surroundings, place: number): number | undefined {
  for (let at = place - 1; at >= Math.max(file.offset, place - REST_BYTES); at -= 1) {
    if (!isContinuation(byteAt(file, at))) return at;
  }
  return undefined;
}

function byteAt({ bytes, offset }: Surroundings, place: number): number {
  return bytes[place - offset] ?? 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** How many bytes a character has that begins with this one. */
function lengthBy(byte: number): number {
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  return byte >= 0xc2 && byte <= 0xdf ? 2 : 1;
}

function isCharacter(bytes: Uint8Array, length: number): boolean {
  if (bytes.length < length) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
