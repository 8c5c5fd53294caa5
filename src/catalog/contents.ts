import { detectText } from '../assets/chatFiles.ts';
import { type InspectedFile, inspectFile, readWhole } from '../assets/confined.ts';
import { describeSize } from '../base/size.ts';
import { sharedConverter } from '../media/convert/converter.ts';
import {
  countPages,
  documentReader,
  MAX_DOCUMENT_BYTES,
  renderDocument,
} from '../media/convert/documentText.ts';
import type { ConvertedImage, DocumentText, PageRange } from '../media/convert/job.ts';
import { parsePages, selectPages } from '../media/convert/pages.ts';
import { isSendableImage, MAX_IMAGE_BYTES, MAX_SCALED_BYTES, SENT_TYPES } from '../media/imageLimits.ts';
import { sniffBytes } from '../media/sniff.ts';
import { isTextType } from '../media/table.ts';
import { CatalogRefusal, entryTitle, type FoundEntry } from './entry.ts';
import type { ReadAs } from './toolSpecs.ts';
import { bytesWindow, type FileWindow, readWindow, refusing } from './windows.ts';

/** Larger images are scaled, and larger sounds are not returned as blocks. */
export const DEFAULT_MEDIA_BYTES = MAX_IMAGE_BYTES;

export interface ContentsRequest {
  readonly start?: number | undefined;
  readonly maxBytes: number;
  readonly as?: ReadAs | undefined;
  /** Of a document: `1-3,7`. */
  readonly pages?: string | undefined;
}

interface ContentsLimits {
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
function shownAs(mimeType: string): MediaKind | undefined {
  if (isSendableImage(mimeType)) return 'image';
  return mimeType.startsWith('audio/') ? 'audio' : undefined;
}

/** If only its name says that a file is an image, a host that passes it on would fail, also with all later requests. */
async function isRealMedia({ head, mimeType }: InspectedFile): Promise<boolean> {
  return !mimeType.startsWith('image/') || (await sniffBytes(head)) !== undefined;
}

/** Models often pass the default values explicitly. */
function asksForAll({ start, maxBytes }: ContentsRequest, size: number, limits: ContentsLimits): boolean {
  return !start && (maxBytes === limits.defaultBytes || maxBytes >= size);
}

/** Hosts pass images on to providers, and Anthropic refuses longer sides. */
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

/** A window of the text of a document. */
export interface DocumentWindow extends FileWindow {
  readonly document: {
    readonly mimeType: string;
    /** `12 pages`; undefined for documents without pages. */
    readonly pages?: string | undefined;
    readonly pageCount?: number | undefined;
    /** Why and how to read on, as a sentence. Undefined if all that was asked for was read. */
    readonly cut?: string | undefined;
  };
}

/** Undefined for files that are not documents, or whose bytes were asked for. Rejects with a `CatalogRefusal`. */
export async function readDocumentWindow(
  found: FoundEntry,
  request: ContentsRequest,
  signal?: AbortSignal,
): Promise<DocumentWindow | undefined> {
  const { as = 'auto', pages: written } = request;
  const pages = written === undefined ? undefined : readPages(written);
  if (as !== 'auto' && as !== 'text') return undefined;
  const file = await refusing(found.entry, () => inspectFile(found.path));
  const { mimeType, size } = file;
  const title = entryTitle(found.entry);
  const reader = found.entry.kind === 'chat' ? undefined : documentReader(mimeType);
  const isUtf8 = reader === 'plain' && detectText(file).isText;
  if (reader === undefined || isUtf8 || size === 0) {
    if (pages) throw new CatalogRefusal(noPages(title));
    return undefined;
  }
  // The source of a page or a notebook is text, too.
  const hasSource = isTextType(mimeType) && reader !== 'plain' && pages === undefined;
  if (hasSource && (as === 'text' || size > MAX_DOCUMENT_BYTES)) return undefined;
  if (size > MAX_DOCUMENT_BYTES) throw new CatalogRefusal(unreadable(title, tooMuchToRead(size)));
  const bytes = await refusing(found.entry, () => readWhole(found.path, file, signal));
  const outcome = await sharedConverter().readDocument({ bytes, reader, pages }, signal);
  if (outcome.kind === 'failed' && hasSource) return undefined;
  if (outcome.kind === 'failed') throw new CatalogRefusal(unreadable(title, outcome.reason));
  const { document } = outcome;
  checkPages(title, document, pages);
  const text = Buffer.from(renderDocument(document));
  return {
    ...bytesWindow(text, request, reader === 'plain' ? mimeType : 'text/markdown'),
    document: { mimeType, pages: countPages(document), pageCount: document.total, cut: cutOf(document) },
  };
}

function cutOf({ isCut, unit, sections }: DocumentText): string | undefined {
  if (!isCut) return undefined;
  const last = sections.at(-1)?.number;
  return unit === 'page' && last !== undefined
    ? `Reading took too long and ended at page ${last}: continue with pages "${last + 1}-".`
    : 'It has more text than can be read.';
}

function readPages(written: string): readonly PageRange[] {
  const pages = parsePages(written);
  if (pages === undefined)
    throw new CatalogRefusal(
      `“${written.slice(0, 50)}” is not a list of pages. Write pages as 3, as 1-3,7 or as 10-.`,
    );
  return pages;
}

function checkPages(title: string, document: DocumentText, pages: readonly PageRange[] | undefined): void {
  if (pages === undefined) return;
  const count = countPages(document);
  if (count === undefined) throw new CatalogRefusal(noPages(title));
  if (selectPages(pages, document.total ?? 0).length === 0)
    throw new CatalogRefusal(`${title} has ${count}, but none of them matches.`);
}

function noPages(title: string): string {
  return `${title} has no pages. Read it in windows with start and maxBytes.`;
}

function tooMuchToRead(size: number): string {
  return `it has ${describeSize(size)}, and at most ${describeSize(MAX_DOCUMENT_BYTES)} are read`;
}

function unreadable(title: string, reason: string): string {
  return `The text of ${title} cannot be read: ${reason}. To read its bytes, use as: "bytes".`;
}
