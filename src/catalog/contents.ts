import { type InspectedFile, inspectFile } from '../assets/confined.ts';
import { describeSize } from '../base/size.ts';
import { sharedConverter } from '../media/convert/converter.ts';
import type { ConvertedImage } from '../media/convert/job.ts';
import { isSendableImage, MAX_IMAGE_BYTES, MAX_SCALED_BYTES, SENT_TYPES } from '../media/imageLimits.ts';
import { sniffBytes } from '../media/sniff.ts';
import { type DocumentWindow, readDocumentWindow } from './documents.ts';
import { CatalogRefusal, entryTitle, type FoundEntry } from './entry.ts';
import type { ReadAs } from './specs.ts';
import { type FileWindow, readWindow, refusing } from './windows.ts';

/** Larger images are scaled, and larger sounds are not returned as blocks. */
export const DEFAULT_MEDIA_BYTES = MAX_IMAGE_BYTES;

export interface ContentsRequest {
  readonly start?: number | undefined;
  readonly maxBytes: number;
  readonly as?: ReadAs | undefined;
  /** Of a document. */
  readonly pages?: string | undefined;
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
    /** Several for a very tall or wide image. */
    | { readonly kind: 'image'; readonly images: readonly ConvertedImage[] }
    | { readonly kind: 'audio'; readonly bytes: Uint8Array }
    | { readonly kind: 'none'; readonly media: MediaKind; readonly maxBytes: number };
  readonly document?: DocumentWindow['document'];
}

export type MediaKind = 'image' | 'audio';

/** Rejects with a `CatalogRefusal`. */
export async function readContents(
  found: FoundEntry,
  request: ContentsRequest,
  limits: ContentsLimits,
  signal?: AbortSignal,
): Promise<FileContents> {
  const { as = 'auto' } = request;
  const document = await readDocumentWindow(found, request, signal);
  if (document) return document;
  if (as !== 'auto' && as !== 'image' && as !== 'audio') return readWindow(found, { ...request, as });
  const file = await refusing(found.entry, () => inspectFile(found.path));
  const isReal = file.size > 0 && (await isRealMedia(file));
  const media = as !== 'auto' ? as : isReal ? shownAs(file.mimeType) : undefined;
  if (media === undefined || (as === 'auto' && !asksForAll(request, file.size, limits)))
    return readWindow(found, { ...request, as: 'auto' });
  checkMedia(found, file.mimeType, media);
  if (!isReal) throw new CatalogRefusal(notReal(found, media));
  const isWindow = as === 'auto' && request.start !== undefined && file.size > limits.maxMediaBytes;
  const whole = isWindow ? undefined : await readMedia(found, { ...file, media, as }, limits, signal);
  if (whole) return whole;
  if (as !== 'auto') throw new CatalogRefusal(tooLarge(found, file.size, media, limits));
  // With a start, a client reads windows and expects bytes.
  if (isWindow || file.size <= limits.maxMediaBytes) return readWindow(found, { ...request, as: 'auto' });
  const body = { kind: 'none', media, maxBytes: limits.maxMediaBytes } as const;
  return { mimeType: file.mimeType, totalBytes: file.size, start: 0, byteCount: 0, nextStart: 0, body };
}

/** How a file is returned by default. Other images would make many hosts fail. */
export function shownAs(mimeType: string): MediaKind | undefined {
  if (isSendableImage(mimeType)) return 'image';
  return mimeType.startsWith('audio/') ? 'audio' : undefined;
}

/** A host that passes on an image of which only the name says that it is one would fail, also with all later requests. */
async function isRealMedia({ head, mimeType }: InspectedFile): Promise<boolean> {
  return !mimeType.startsWith('image/') || (await sniffBytes(head)) !== undefined;
}

/** Models often pass the default values explicitly. */
function asksForAll({ start, maxBytes }: ContentsRequest, size: number, limits: ContentsLimits): boolean {
  return !start && (maxBytes === limits.defaultBytes || maxBytes >= size);
}

/** Hosts pass images on to providers, of which Anthropic refuses longer sides. */
const MAX_SIDE = 8000;

/** Undefined for a file that is too large to be returned whole, or that most hosts cannot show. */
async function readMedia(
  found: FoundEntry,
  file: Pick<InspectedFile, 'size' | 'mimeType'> & { readonly media: MediaKind; readonly as: ReadAs },
  { maxMediaBytes }: ContentsLimits,
  signal: AbortSignal | undefined,
): Promise<FileContents | undefined> {
  const { media, size, mimeType } = file;
  const isFitted = media === 'image' && isSendableImage(mimeType) && size <= MAX_SCALED_BYTES;
  if (size > maxMediaBytes && !isFitted) return undefined;
  const window = await readWindow(found, {
    maxBytes: Math.max(maxMediaBytes, MAX_SCALED_BYTES),
    as: 'bytes',
  });
  if (window.body.kind !== 'bytes') throw new TypeError('bytes were read as text');
  const { bytes } = window.body;
  if (media === 'audio') return { ...window, body: { kind: media, bytes } };
  const limits = { maxSide: MAX_SIDE, maxBytes: maxMediaBytes, maxImages: 1 };
  const fitted = isFitted ? await sharedConverter().fitImage(bytes, mimeType, limits, signal) : KEEP;
  if (fitted.kind === 'images') return { ...window, body: { kind: media, images: fitted.images } };
  const isShown = SENT_TYPES.has(mimeType) || file.as === 'image';
  if (size > maxMediaBytes || !isShown) return undefined;
  return { ...window, body: { kind: media, images: [{ mimeType, bytes }] } };
}

const KEEP = { kind: 'keep' } as const;

/** Throws a `CatalogRefusal` for a file of another type. */
export function checkMedia({ entry }: FoundEntry, mimeType: string, media: MediaKind): void {
  if (mimeType.startsWith(`${media}/`)) return;
  const reason = `${entryTitle(entry)} is ${mimeType}, not ${WORDS[media]}. Read it with as: "auto".`;
  throw new CatalogRefusal(reason);
}

function notReal({ entry }: FoundEntry, media: MediaKind): string {
  return `${entryTitle(entry)} is not ${WORDS[media]}: its bytes have no such format. Read it with as: "bytes".`;
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
