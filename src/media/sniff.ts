import { fileTypeFromBuffer } from 'file-type';
import type { AssetBytes } from '../ports.ts';
import { imageSize, isCutPng } from './imageSize.ts';
import { isDecidedHere, sniffMagic } from './magic.ts';
import { canBeInside, type MediaType, mediaByExtension, mediaByType, UNKNOWN } from './table.ts';

export interface MediaClues {
  readonly bytes: AssetBytes;
  /** The last bytes of a file of which only the head is in memory. */
  readonly tail?: Uint8Array | undefined;
  /** What the server says that it is. */
  readonly declared?: string | undefined;
  readonly uri?: string | undefined;
  /** The type of the block that it came in. */
  readonly block: 'image' | 'audio' | 'file';
}

/** What bytes are: their magic numbers first, then the declared type, then the name in the URI. */
export async function judgeMediaType(clues: MediaClues): Promise<MediaType> {
  const type = await judgeByClues(clues);
  return type.kind === 'image' && !canBeShown(clues) ? { ...type, kind: 'file' } : type;
}

/** What the first bytes say for certain: by magic numbers, or as the markup that they begin with. */
export async function sniffBytes(head: Uint8Array): Promise<MediaType | undefined> {
  return (await sniffBinary(head))?.type ?? sniffMarkup(head);
}

/** The same without waiting. Of a container it says no more than its head does; `claimed` is believed of what is inside. */
export function sniffHead(head: Uint8Array, claimed?: MediaType): MediaType | undefined {
  const magic = sniffMagic(head);
  if (!magic) return sniffMarkup(head);
  return claimed && canBeInside(magic.extension, claimed) ? claimed : mediaByExtension(magic.extension);
}

/** The bytes that are in memory: all of them, or the head of a long file. */
export function headOf(bytes: AssetBytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : bytes.head;
}

export function sizeOf(bytes: AssetBytes): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.size;
}

async function judgeByClues(clues: MediaClues): Promise<MediaType> {
  const head = headOf(clues.bytes);
  const declared = readDeclared(clues.declared);
  const binary = await sniffBinary(head);
  if (binary) {
    const claims = [declared.known, byUri(clues.uri)];
    const inside = claims.find((claim) => claim && canBeInside(binary.container, claim));
    return inside ?? withDeclaredSound(binary.type, declared.type);
  }
  const markup = sniffMarkup(head);
  if (markup) return isPageInDisguise(markup, clues, declared.type) ? UNKNOWN : markup;
  return declared.known ?? byUri(clues.uri) ?? seedDefault(clues, declared.type) ?? UNKNOWN;
}

/** A preview that decodes more than this takes the editor down with it. */
const MAX_SHOWN_PIXELS = 100_000_000;

function canBeShown({ bytes, tail }: MediaClues): boolean {
  const head = headOf(bytes);
  const size = imageSize(head);
  if (size && size.width * size.height > MAX_SHOWN_PIXELS) return false;
  const wholeIsKnown = bytes instanceof Uint8Array || bytes.size <= head.length || tail !== undefined;
  return !(wholeIsKnown && isCutPng(head, tail));
}

/** Long enough for the head of every format, including an SVG behind a licence comment. */
const MARKUP_HEAD_BYTES = 4096;
const TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+_-]{0,126}$/;
const MAX_TYPE_CHARS = 200;

/** A type without its parameters, or nothing if it is none. */
export function typeName(declared: string): string | undefined {
  const type = declared.slice(0, MAX_TYPE_CHARS).split(';')[0]?.trim().toLowerCase();
  return type && TYPE.test(type) ? type : undefined;
}

/** What the table knows of a type. Octets are no claim at all. */
function readDeclared(declared: string | undefined): { readonly type?: string; readonly known?: MediaType } {
  const type = declared === undefined ? undefined : typeName(declared);
  if (type === undefined || type === 'application/octet-stream') return {};
  const known = mediaByType(type);
  return known ? { type, known } : { type };
}

/** `container` is the library's own word, which may name a format that the table does not have. */
async function sniffBinary(
  bytes: Uint8Array,
): Promise<{ readonly container: string; readonly type: MediaType } | undefined> {
  const magic = sniffMagic(bytes);
  if (magic?.isFinal) return named(magic.extension);
  // The library rejects when a file ends in the middle of its head; such bytes are of no known type.
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  // A text may begin with the two letters that are all the library asks for.
  if (!found || (!magic && isDecidedHere(found.ext))) return magic && named(magic.extension);
  // A generic XML head says less than the declared type.
  return found.ext === 'xml' ? undefined : named(found.ext, found.mime);
}

function named(container: string, mimeType = '') {
  return { container, type: mediaByExtension(container) ?? mediaByType(mimeType) ?? UNKNOWN };
}

/** SVG and HTML have no magic numbers, and both can run scripts: they must not pass as a picture. */
function sniffMarkup(bytes: Uint8Array): MediaType | undefined {
  return judgeMarkup(new TextDecoder().decode(bytes.subarray(0, MARKUP_HEAD_BYTES)));
}

/** The page or the drawing that a text begins as. */
export function judgeMarkup(text: string): MediaType | undefined {
  const head = text.slice(0, MARKUP_HEAD_BYTES).trimStart();
  if (!head.startsWith('<')) return undefined;
  const element = head.replace(/<\?[\s\S]*?\?>|<!--[\s\S]*?-->/g, '').trimStart();
  if (/^(<!doctype\s+svg|<svg[\s>])/i.test(element)) return mediaByExtension('svg');
  if (/^(<!doctype\s+html|<(html|head|body|script)[\s>])/i.test(element)) return mediaByExtension('html');
  return undefined;
}

/** A web page that calls itself a picture gets no name under which a browser would run it. */
function isPageInDisguise(sniffed: MediaType, clues: MediaClues, declared: string | undefined): boolean {
  return sniffed.extension === 'html' && (clues.block !== 'file' || declared?.startsWith('image/') === true);
}

/** Some containers hold sound or film alike; there the declared type knows better. */
const SOUND_IN: Readonly<Record<string, string>> = { webm: 'weba', mp4: 'm4a', ogv: 'ogg', mkv: 'weba' };

function withDeclaredSound(sniffed: MediaType, declared: string | undefined): MediaType {
  if (!declared?.startsWith('audio/')) return sniffed;
  const extension = SOUND_IN[sniffed.extension];
  return (extension && mediaByExtension(extension)) || sniffed;
}

/** By the ending of a name, a path or a URI. */
export function byUri(uri: string | undefined): MediaType | undefined {
  const extension = /\.([A-Za-z0-9]{1,8})(?:[?#].*)?$/.exec(uri?.slice(-300) ?? '')?.[1];
  return extension === undefined ? undefined : mediaByExtension(extension);
}

/** A picture of a type that nobody knows is saved as PNG, unless something speaks against it. */
function seedDefault(clues: MediaClues, declared: string | undefined): MediaType | undefined {
  const claimed = declared?.startsWith('image/') ?? clues.declared === undefined;
  return clues.block === 'image' && claimed ? mediaByExtension('png') : undefined;
}
