import { inspectFile } from '../assets/confined.ts';
import { describeSize } from '../base/size.ts';
import { MAX_IMAGE_BYTES, SENT_TYPES } from '../result/modelView.ts';
import { CatalogRefusal, entryTitle, type FoundEntry } from './entry.ts';
import type { ReadAs } from './specs.ts';
import { type FileWindow, readWindow, refusing } from './windows.ts';

/** Larger images and sounds are not returned as blocks. */
export const DEFAULT_MEDIA_BYTES = MAX_IMAGE_BYTES;

export interface ContentsRequest {
  readonly start?: number | undefined;
  readonly maxBytes: number;
  readonly as?: ReadAs | undefined;
}

export interface ContentsLimits {
  /** The size of a window that was not asked for. */
  readonly defaultBytes: number;
  readonly maxMediaBytes: number;
}

/** A window, or a whole image or sound. `none`: an image or sound that is too large to be returned whole. */
export interface FileContents extends Omit<FileWindow, 'body'> {
  readonly body:
    | FileWindow['body']
    | { readonly kind: 'image'; readonly bytes: Uint8Array }
    | { readonly kind: 'audio'; readonly bytes: Uint8Array }
    | { readonly kind: 'none'; readonly media: MediaKind; readonly maxBytes: number };
}

export type MediaKind = 'image' | 'audio';

/** Rejects with a `CatalogRefusal`. */
export async function readContents(
  found: FoundEntry,
  request: ContentsRequest,
  limits: ContentsLimits,
): Promise<FileContents> {
  const { as = 'auto' } = request;
  if (as !== 'auto' && as !== 'image' && as !== 'audio') return readWindow(found, { ...request, as });
  const file = await refusing(found.entry, () => inspectFile(found.path));
  const media = as === 'auto' ? shownAs(file.mimeType) : as;
  if (media === undefined || (as === 'auto' && !asksForAll(request, file.size, limits)))
    return readWindow(found, { ...request, as: 'auto' });
  checkMedia(found, file.mimeType, media);
  if (file.size <= limits.maxMediaBytes) return readMedia(found, media, limits);
  if (as !== 'auto') throw new CatalogRefusal(tooLarge(found, file.size, media, limits));
  // With a start, a client reads windows and expects bytes.
  if (request.start !== undefined) return readWindow(found, { ...request, as: 'auto' });
  const body = { kind: 'none', media, maxBytes: limits.maxMediaBytes } as const;
  return { mimeType: file.mimeType, totalBytes: file.size, start: 0, byteCount: 0, nextStart: 0, body };
}

/** How a file is returned by default. Other images would make many hosts fail. */
export function shownAs(mimeType: string): MediaKind | undefined {
  if (SENT_TYPES.has(mimeType)) return 'image';
  return mimeType.startsWith('audio/') ? 'audio' : undefined;
}

/** Models often pass the default values explicitly. */
function asksForAll({ start, maxBytes }: ContentsRequest, size: number, limits: ContentsLimits): boolean {
  return !start && (maxBytes === limits.defaultBytes || maxBytes >= size);
}

async function readMedia(found: FoundEntry, kind: MediaKind, limits: ContentsLimits): Promise<FileContents> {
  const window = await readWindow(found, { maxBytes: limits.maxMediaBytes, as: 'bytes' });
  if (window.body.kind !== 'bytes') throw new TypeError('bytes were read as text');
  return { ...window, body: { kind, bytes: window.body.bytes } };
}

/** Throws a `CatalogRefusal` for a file of another type. */
export function checkMedia({ entry }: FoundEntry, mimeType: string, media: MediaKind): void {
  if (mimeType.startsWith(`${media}/`)) return;
  const reason = `${entryTitle(entry)} is ${mimeType}, not ${WORDS[media]}. Read it with as: "auto".`;
  throw new CatalogRefusal(reason);
}

function tooLarge(
  { entry }: FoundEntry,
  size: number,
  media: MediaKind,
  { maxMediaBytes }: ContentsLimits,
): string {
  return `${entryTitle(entry)} has ${describeSize(size)}, more than the ${describeSize(maxMediaBytes)} that can be returned as ${WORDS[media]}. Read it in windows with as: "bytes".`;
}

const WORDS: Readonly<Record<MediaKind, string>> = { image: 'an image', audio: 'audio' };
