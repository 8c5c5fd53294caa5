import { decodeText, detectText } from '../assets/chatFiles.ts';
import { FileChanged, type InspectedFile, inspectFile, readRange, toReadError } from '../assets/confined.ts';
import { isTextType } from '../media/table.ts';
import { CatalogRefusal, type Entry, type FoundEntry } from './entry.ts';

export interface WindowRequest {
  readonly start?: number | undefined;
  readonly maxBytes: number;
  /** `bytes` returns text as bytes, too; `text` refuses other files. */
  readonly as?: 'auto' | 'resource' | 'bytes' | 'text' | undefined;
}

/** A piece of a file. Text is cut between characters; `start` is the actual beginning. */
export interface FileWindow {
  readonly mimeType: string;
  readonly totalBytes: number;
  readonly start: number;
  readonly byteCount: number;
  /** Undefined at the end of the file. */
  readonly nextStart?: number;
  readonly body:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'bytes'; readonly bytes: Uint8Array };
}

/** Time and memory depend on the window, not on the file. Rejects with a `CatalogRefusal`. */
export function readWindow({ entry, path }: FoundEntry, request: WindowRequest): Promise<FileWindow> {
  const { start = 0, maxBytes, as = 'auto' } = request;
  return refusing(entry, async () => {
    const file = await inspectFile(path);
    if (start > file.size) throw new CatalogRefusal(beyondEnd(start, file.size));
    const asText = as !== 'bytes' && (isTextType(file.mimeType) || detectText(file).isText);
    const read = asText ? readCharacters : readBytes;
    const { from, bytes } = await read(path, file, { start, maxBytes });
    // A window that is not valid text is returned as bytes, with the same bounds.
    const text = asText ? decodeText(bytes) : undefined;
    if (as === 'text' && text === undefined) throw new CatalogRefusal(notText(file.mimeType));
    const end = from + bytes.length;
    return {
      mimeType: text === undefined || isTextType(file.mimeType) ? file.mimeType : 'text/plain',
      totalBytes: file.size,
      start: from,
      byteCount: bytes.length,
      ...(end < file.size ? { nextStart: end } : {}),
      body: text === undefined ? { kind: 'bytes', bytes } : { kind: 'text', text },
    };
  });
}

/** A window of text that is in memory, as UTF-8. */
export function bytesWindow(
  bytes: Uint8Array,
  { start = 0, maxBytes }: Omit<WindowRequest, 'as'>,
  mimeType: string,
): FileWindow {
  const totalBytes = bytes.length;
  if (start > totalBytes) throw new CatalogRefusal(beyondEnd(start, totalBytes));
  const window = textWindow({ bytes, offset: 0, totalBytes }, { start, maxBytes });
  if (!window.fits) throw new CatalogRefusal(tooNarrow(start, window.neededBytes));
  const { start: from, end } = window;
  return {
    mimeType,
    totalBytes,
    start: from,
    byteCount: end - from,
    ...(end < totalBytes ? { nextStart: end } : {}),
    body: { kind: 'text', text: new TextDecoder().decode(bytes.subarray(from, end)) },
  };
}

/** Turns every failure to read into a `CatalogRefusal`. */
export async function refusing<T>({ uri }: Pick<Entry, 'uri'>, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof CatalogRefusal ? error : new CatalogRefusal(unreadable(uri, error));
  }
}

type ReadPiece = (
  path: string,
  file: InspectedFile,
  range: Range,
) => Promise<{ readonly from: number; readonly bytes: Uint8Array }>;

const readBytes: ReadPiece = async (path, file, { start, maxBytes }) => ({
  from: start,
  bytes: await readRange(path, file, start, maxBytes),
});

const readCharacters: ReadPiece = async (path, file, { start, maxBytes }) => {
  const offset = Math.max(0, start - REST_BYTES);
  const around = await readRange(path, file, offset, start - offset + maxBytes + REST_BYTES);
  const window = textWindow({ bytes: around, offset, totalBytes: file.size }, { start, maxBytes });
  if (!window.fits) throw new CatalogRefusal(tooNarrow(start, window.neededBytes));
  return { from: window.start, bytes: around.subarray(window.start - offset, window.end - offset) };
};

function beyondEnd(start: number, size: number): string {
  return `There is nothing at byte ${start}: the file has ${size} bytes. Use a start from 0 to ${size}.`;
}

function tooNarrow(start: number, neededBytes: number): string {
  return `The character at byte ${start} has ${neededBytes} bytes. Use maxBytes of ${neededBytes} or more, or as: "bytes".`;
}

function notText(mimeType: string): string {
  return `This is ${mimeType}, not UTF-8 text. Read it with as: "auto" or "bytes".`;
}

/** Messages of the system contain paths and are not passed on. */
function unreadable(uri: string, error: unknown): string {
  if (error instanceof FileChanged) return `${uri} was changed while it was being read. Read it again.`;
  const known = toReadError(error);
  const reason = known instanceof Error && !('code' in known) ? known.message : 'the disk reported an error';
  return `${uri} cannot be read: ${reason}.`;
}

interface FileSlice {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly totalBytes: number;
}

interface Range {
  readonly start: number;
  readonly maxBytes: number;
}

type TextWindow =
  | { readonly fits: true; readonly start: number; readonly end: number }
  /** Not even the first character fits; it needs this many bytes. */
  | { readonly fits: false; readonly neededBytes: number };

export const REST_BYTES = 3;

/**
 * Cuts between characters, whatever the bytes are. A position within a character counts as the beginning of that
 * character, so that consecutive windows neither skip nor repeat bytes.
 */
export function textWindow(file: FileSlice, { start, maxBytes }: Range): TextWindow {
  const begin = characterStart(file, start);
  const end = characterStart(file, Math.min(begin + maxBytes, file.totalBytes));
  if (end === begin && begin < file.totalBytes)
    return { fits: false, neededBytes: lengthBy(byteAt(file, begin)) };
  return { fits: true, start: begin, end: end === file.totalBytes ? beforeHalfCharacter(file, begin) : end };
}

function characterStart(file: FileSlice, position: number): number {
  const first = leadBefore(file, position);
  if (first === undefined) return position;
  const from = first - file.offset;
  const end = from + lengthBy(byteAt(file, first));
  return end + file.offset > position && isCharacter(file.bytes.subarray(from, end), end - from)
    ? first
    : position;
}

/** A file that is being written may end within a character, which is left for a window of its own. */
function beforeHalfCharacter(file: FileSlice, begin: number): number {
  const { totalBytes } = file;
  const first = leadBefore(file, totalBytes);
  if (first === undefined || first <= begin) return totalBytes;
  return first + lengthBy(byteAt(file, first)) > totalBytes ? first : totalBytes;
}

/** The nearest byte before a position that can be the first of a character reaching it. */
function leadBefore(file: FileSlice, position: number): number | undefined {
  for (let at = position - 1; at >= Math.max(file.offset, position - REST_BYTES); at -= 1) {
    if (!isContinuation(byteAt(file, at))) return at;
  }
  return undefined;
}

function byteAt({ bytes, offset }: FileSlice, position: number): number {
  return bytes[position - offset] ?? 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

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
