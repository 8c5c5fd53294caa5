import { explained, FileChanged, type LookedAt, lookAt, readRange } from '../assets/confined.ts';
import { judgeText, readText } from '../assets/textFile.ts';
import { isTextType } from '../media/table.ts';
import { CatalogRefusal, type FoundEntry } from './entry.ts';
import { REST_BYTES, textWindow, type Wanted } from './textWindow.ts';

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
    const file = await lookAt(path);
    if (start > file.size) throw new CatalogRefusal(beyondEnd(start, file.size));
    const asText = as === 'auto' && (isTextType(file.mimeType) || judgeText(file).isText);
    return await (asText ? readAsText : readAsBytes)(path, file, { start, maxBytes });
  } catch (error) {
    throw error instanceof CatalogRefusal ? error : new CatalogRefusal(unreadable(entry.uri, error));
  }
}

function checkWhole(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new CatalogRefusal(`${name} must be a whole number of bytes, ${least} or more, and not ${value}.`);
}

async function readAsBytes(path: string, file: LookedAt, { start, maxBytes }: Wanted): Promise<FileWindow> {
  const bytes = await readRange(path, file, start, maxBytes);
  return { mimeType: file.mimeType, ...bounds(file, start, bytes), body: { kind: 'bytes', bytes } };
}

/** What calls itself text and is none comes as bytes, in the same windows. */
async function readAsText(path: string, file: LookedAt, { start, maxBytes }: Wanted): Promise<FileWindow> {
  const offset = Math.max(0, start - REST_BYTES);
  const around = await readRange(path, file, offset, start - offset + maxBytes + REST_BYTES);
  const window = textWindow({ bytes: around, offset, totalBytes: file.size }, { start, maxBytes });
  if (!window.fits) throw new CatalogRefusal(tooNarrow(start, window.neededBytes));
  const bytes = around.subarray(window.start - offset, window.end - offset);
  const text = readText(bytes);
  const found = bounds(file, window.start, bytes);
  if (text === undefined) return { mimeType: file.mimeType, ...found, body: { kind: 'bytes', bytes } };
  const mimeType = isTextType(file.mimeType) ? file.mimeType : 'text/plain';
  return { mimeType, ...found, body: { kind: 'text', text } };
}

function bounds(
  { size }: LookedAt,
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
  const known = explained(error);
  const reason = known instanceof Error && !('code' in known) ? known.message : 'its disk did not give it';
  return `${uri} cannot be read: ${reason}.`;
}
