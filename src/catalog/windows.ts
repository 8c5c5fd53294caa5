import { detectText, readText } from '../assets/chatFiles.ts';
import { FileChanged, type InspectedFile, inspectFile, readRange, toReadError } from '../assets/confined.ts';
import { isTextType } from '../media/table.ts';
import { CatalogRefusal, type FoundEntry } from './entry.ts';

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
export async function readWindow({ entry, path }: FoundEntry, request: WindowRequest): Promise<FileWindow> {
  const { start = 0, maxBytes, as = 'auto' } = request;
  checkWhole('start', start, 0);
  checkWhole('maxBytes', maxBytes, 1);
  try {
    const file = await inspectFile(path);
    if (start > file.size) throw new CatalogRefusal(beyondEnd(start, file.size));
    const asText = as === 'auto' && (isTextType(file.mimeType) || detectText(file).isText);
    return await (asText ? readAsText : readAsBytes)(path, file, { start, maxBytes });
  } catch (error) {
    throw error instanceof CatalogRefusal ? error : new CatalogRefusal(unreadable(entry.uri, error));
  }
}

function checkWhole(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new CatalogRefusal(`${name} must be a whole number of bytes, ${least} or more, and not ${value}.`);
}

async function readAsBytes(
  path: string,
  file: InspectedFile,
  { start, maxBytes }: Wanted,
): Promise<FileWindow> {
  const bytes = await readRange(path, file, start, maxBytes);
  return { mimeType: file.mimeType, ...bounds(file, start, bytes), body: { kind: 'bytes', bytes } };
}

/** What calls itself text and is none comes as bytes, in the same windows. */
async function readAsText(
  path: string,
  file: InspectedFile,
  { start, maxBytes }: Wanted,
): Promise<FileWindow> {
  const offset = Math.max(0, start - REST_BYTES);
  const around = await readRange(path, file, offset, start - offset + maxBytes + REST_BYTES);
  const window = textWindow({ bytes: around, offset, totalBytes: file.size }, { start, maxBytes });
  if (!window.fits) throw new CatalogRefusal(tooNarrow(start, window.neededBytes));
  const bytes = around.subarray(window.start - offset, window.end - offset);
  const text = decodeText(bytes);
  const found = bounds(file, window.start, bytes);
  if (text === undefined) return { mimeType: file.mimeType, ...found, body: { kind: 'bytes', bytes } };
  const mimeType = isTextType(file.mimeType) ? file.mimeType : 'text/plain';
  return { mimeType, ...found, body: { kind: 'text', text } };
}

function bounds(
  { size }: InspectedFile,
  start: number,
  { length }: Uint8Array,
): Pick<FileWindow, 'totalBytes' | 'start' | 'byteCount' | 'nextStart'> {
  const end = start + length;
  return { totalBytes: size, start, byteCount: length, ...(end < size ? { nextStart: end } : {}) };
}

function beyondEnd(start: number, size: number): string {
  return `There is nothing at byte ${start}: the file has ${size} bytes. Ask for a start from 0 to ${size}.`;
}

function tooNarrow(start: number, neededBytes: number): string {
  return `The character at byte ${start} has ${neededBytes} bytes. Ask for maxBytes of ${neededBytes} or more, or for bytes.`;
}

/** Only reasons that we know: those of the system name paths. */
function unreadable(uri: string, error: unknown): string {
  if (error instanceof FileChanged) return `${uri} was changed while it was read. Read it again.`;
  const known = toReadError(error);
  const reason = known instanceof Error && !('code' in known) ? known.message : 'its disk did not give it';
  return `${uri} cannot be read: ${reason}.`;
}

/** Bytes of a file, and where in it they are. */
export interface Surroundings {
  readonly bytes: Uint8Array;
  /** Where the first of them is in the file. */
  readonly offset: number;
  readonly totalBytes: number;
}

/** What is asked for, in bytes of the file. */
interface Wanted {
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
