import { fileTypeFromBuffer } from 'file-type';
import type { AssetBytes } from '../ports/results.ts';
import { imageSize, isCutPng } from './measure.ts';
import { canBeInside, type MediaType, mediaByExtension, mediaByType, UNKNOWN } from './table.ts';

export interface MediaClues {
  readonly bytes: AssetBytes;
  /** The last bytes of a file, if only its head is in memory. */
  readonly tail?: Uint8Array | undefined;
  /** The MIME type that the server declares. */
  readonly declared?: string | undefined;
  readonly uri?: string | undefined;
  readonly block: 'image' | 'audio' | 'file';
}

/** Decides by the magic numbers, then by the declared type, then by the extension in the URI. */
export async function detectMediaType(clues: MediaClues): Promise<MediaType> {
  const type = await detectByClues(clues);
  const isImage = clues.block === 'image' || isSvgType(clues.declared ?? '');
  if (type.extension === 'svg' && isImage) return { ...type, kind: 'image' };
  return type.kind === 'image' && !canBeShown(clues) ? { ...type, kind: 'file' } : type;
}

/** A link to an SVG image shows it in an `<img>`, where it runs no script and loads nothing. */
export function isSvgType(declared: string): boolean {
  return mediaByType(typeName(declared) ?? '')?.extension === 'svg';
}

/** The type by magic numbers or markup alone. */
export async function sniffBytes(head: Uint8Array): Promise<MediaType | undefined> {
  return (await sniffBinary(head))?.type ?? sniffMarkup(head);
}

/** A synchronous `sniffBytes`. It does not look into containers; there it trusts `claimed`. */
export function sniffHead(head: Uint8Array, claimed?: MediaType): MediaType | undefined {
  const magic = sniffMagic(head);
  if (!magic) return sniffMarkup(head);
  return claimed && canBeInside(magic.extension, claimed) ? claimed : mediaByExtension(magic.extension);
}

export function headOf(bytes: AssetBytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : bytes.head;
}

export function sizeOf(bytes: AssetBytes): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.size;
}

async function detectByClues(clues: MediaClues): Promise<MediaType> {
  const head = headOf(clues.bytes);
  const declared = readDeclared(clues.declared);
  const binary = await sniffBinary(head);
  if (binary) {
    const claims = [declared.known, mediaByUri(clues.uri)];
    const inside = claims.find((claim) => claim && canBeInside(binary.container, claim));
    return inside ?? withDeclaredAudio(binary.type, declared.type);
  }
  const markup = sniffMarkup(head);
  if (markup) return isPageInDisguise(markup, clues, declared.type) ? UNKNOWN : markup;
  return declared.known ?? mediaByUri(clues.uri) ?? unknownImage(clues, declared.type) ?? UNKNOWN;
}

/** A preview that decodes more than this can crash the editor. */
const MAX_SHOWN_PIXELS = 100_000_000;

function canBeShown({ bytes, tail }: MediaClues): boolean {
  const head = headOf(bytes);
  const size = imageSize(head);
  if (size && size.width * size.height > MAX_SHOWN_PIXELS) return false;
  const wholeIsKnown = bytes instanceof Uint8Array || bytes.size <= head.length || tail !== undefined;
  return !(wholeIsKnown && isCutPng(head, tail));
}

/** Enough for an SVG that begins with a license comment. */
const MARKUP_HEAD_BYTES = 4096;
const TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+_-]{0,126}$/;
const MAX_TYPE_CHARS = 200;

/** A MIME type in lower case without its parameters; undefined if it is not valid. */
export function typeName(declared: string): string | undefined {
  const type = declared.slice(0, MAX_TYPE_CHARS).split(';')[0]?.trim().toLowerCase();
  return type && TYPE.test(type) ? type : undefined;
}

/** `application/octet-stream` says nothing about the type. */
function readDeclared(declared: string | undefined): { readonly type?: string; readonly known?: MediaType } {
  const type = declared === undefined ? undefined : typeName(declared);
  if (type === undefined || type === 'application/octet-stream') return {};
  const known = mediaByType(type);
  return known ? { type, known } : { type };
}

/** `container` is the library's extension, which may be missing in the table. */
async function sniffBinary(
  bytes: Uint8Array,
): Promise<{ readonly container: string; readonly type: MediaType } | undefined> {
  const magic = sniffMagic(bytes);
  if (magic?.isFinal) return named(magic.extension);
  // The library rejects when a file ends in the middle of its header.
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  // For some formats the library checks only two letters, which ordinary text may begin with.
  if (!found || (!magic && isDecidedHere(found.ext))) return magic && named(magic.extension);
  // The declared type is more specific than generic XML.
  return found.ext === 'xml' ? undefined : named(found.ext, found.mime);
}

function named(container: string, mimeType = '') {
  return { container, type: mediaByExtension(container) ?? mediaByType(mimeType) ?? UNKNOWN };
}

/** SVG and HTML have no magic numbers. Both can run scripts, so they must not count as images. */
function sniffMarkup(bytes: Uint8Array): MediaType | undefined {
  return detectMarkup(new TextDecoder().decode(bytes.subarray(0, MARKUP_HEAD_BYTES)));
}

/** SVG or HTML, by the first element. */
export function detectMarkup(text: string): MediaType | undefined {
  const head = text.slice(0, MARKUP_HEAD_BYTES).trimStart();
  if (!head.startsWith('<')) return undefined;
  const element = head.replace(/<\?[\s\S]*?\?>|<!--[\s\S]*?-->/g, '').trimStart();
  if (/^(<!doctype\s+svg|<svg[\s>])/i.test(element)) return mediaByExtension('svg');
  if (/^(<!doctype\s+html|<(html|head|body|script)[\s>])/i.test(element)) return mediaByExtension('html');
  return undefined;
}

/** HTML that is declared as an image must not get an extension under which a browser would run it. */
function isPageInDisguise(sniffed: MediaType, clues: MediaClues, declared: string | undefined): boolean {
  return sniffed.extension === 'html' && (clues.block !== 'file' || declared?.startsWith('image/') === true);
}

/** Containers of audio or video, for which the declared type decides. */
const AUDIO_IN: Readonly<Record<string, string>> = { webm: 'weba', mp4: 'm4a', ogv: 'ogg', mkv: 'weba' };

function withDeclaredAudio(sniffed: MediaType, declared: string | undefined): MediaType {
  if (!declared?.startsWith('audio/')) return sniffed;
  const extension = AUDIO_IN[sniffed.extension];
  return (extension && mediaByExtension(extension)) || sniffed;
}

/** By the extension of a name, a path or a URI. */
export function mediaByUri(uri: string | undefined): MediaType | undefined {
  const extension = /\.([A-Za-z0-9]{1,8})(?:[?#].*)?$/.exec(uri?.slice(-300) ?? '')?.[1];
  return extension === undefined ? undefined : mediaByExtension(extension);
}

/** An image block of unknown type is saved as PNG unless it declares something else. */
function unknownImage(clues: MediaClues, declared: string | undefined): MediaType | undefined {
  const claimed = declared?.startsWith('image/') ?? clues.declared === undefined;
  return clues.block === 'image' && claimed ? mediaByExtension('png') : undefined;
}

export interface Magic {
  readonly extension: string;
  /** False if several formats share the signature. */
  readonly isFinal: boolean;
}

/** Synchronous. No signature in the table matches the beginning of ordinary text. */
export function sniffMagic(head: Uint8Array): Magic | undefined {
  const row = ROWS.find(
    ({ signs, test }) => signs.every((sign) => hasSign(head, sign)) && test?.(head) !== false,
  );
  return row && { extension: row.extension, isFinal: row.isFinal };
}

/** Whether bytes without one of the signatures below cannot be of this format. */
export function isDecidedHere(extension: string): boolean {
  const rows = ROWS.filter((row) => row.extension === extension);
  return rows.length > 0 && rows.every(({ isFinal }) => isFinal);
}

interface Sign {
  readonly at: number;
  readonly bytes: readonly number[];
}

interface Row extends Magic {
  readonly signs: readonly Sign[];
  readonly test?: (head: Uint8Array) => boolean;
}

function hex(digits: string, at = 0): Sign {
  return { at, bytes: digits.split(' ').map((pair) => Number.parseInt(pair, 16)) };
}

function letters(text: string, at = 0): Sign {
  return { at, bytes: [...text].map((letter) => letter.charCodeAt(0)) };
}

const final = (extension: string, ...signs: Sign[]): Row => ({ extension, signs, isFinal: true });
const family = (extension: string, ...signs: Sign[]): Row => ({ extension, signs, isFinal: false });

const ROWS: readonly Row[] = [
  // APNG has an additional chunk.
  {
    ...final('png', hex('89 50 4e 47')),
    test: (head) => !Buffer.from(head.buffer, head.byteOffset, head.length).includes('acTL'),
  },
  family('png', hex('89 50 4e 47')),
  { ...final('jpg', hex('ff d8 ff')), test: (head) => head[3] !== 0xf7 },
  final('gif', letters('GIF8')),
  final('webp', letters('RIFF'), letters('WEBP', 8)),
  final('wav', letters('RIFF'), letters('WAVE', 8)),
  final('avi', letters('RIFF'), letters('AVI ', 8)),
  // The reserved bytes are zero; a text that begins with BM has letters there.
  final('bmp', letters('BM'), hex('00 00 00 00', 6)),
  final('psd', letters('8BPS')),
  final('pdf', letters('%PDF')),
  final('flac', letters('fLaC')),
  final('mid', letters('MThd')),
  final('aif', letters('FORM'), letters('AIFF', 8)),
  final('aif', letters('FORM'), letters('AIFC', 8)),
  final('amr', letters('#!AMR')),
  final('gz', hex('1f 8b 08')),
  final('7z', hex('37 7a bc af 27 1c')),
  final('xz', hex('fd 37 7a 58 5a 00')),
  final('zst', hex('28 b5 2f fd')),
  final('rar', letters('Rar!'), hex('1a 07 00', 4)),
  final('rar', letters('Rar!'), hex('1a 07 01', 4)),
  final('wasm', hex('00 61 73 6d')),
  final('sqlite', letters('SQLite format 3')),
  final('woff', letters('wOFF'), hex('00 01 00 00', 4)),
  final('woff', letters('wOFF'), letters('OTTO', 4)),
  final('woff2', letters('wOF2'), hex('00 01 00 00', 4)),
  final('woff2', letters('wOF2'), letters('OTTO', 4)),
  family('jxl', hex('ff 0a')),
  family('jxl', hex('00 00 00 0c 4a 58 4c 20 0d 0a 87 0a')),
  // Office files and EPUB are ZIP archives.
  family('zip', letters('PK'), hex('03 04', 2)),
  final('zip', letters('PK'), hex('05 06', 2)),
  family('opus', letters('OggS'), letters('OpusHead', 28)),
  family('ogv', letters('OggS'), hex('80', 28), letters('theora', 29)),
  family('ogg', letters('OggS')),
  family('avif', letters('ftypavif', 4)),
  family('avif', letters('ftypavis', 4)),
  family('heic', letters('ftyphei', 4)),
  family('heic', letters('ftypmif1', 4)),
  family('m4a', letters('ftypM4A', 4)),
  family('m4a', letters('ftypM4B', 4)),
  family('mov', letters('ftypqt', 4)),
  family('3gp', letters('ftyp3g', 4)),
  family('mp4', letters('ftyp', 4)),
  { ...family('webm', hex('1a 45 df a3')), test: (head) => hasDocType(head, 'webm') },
  { ...family('mkv', hex('1a 45 df a3')), test: (head) => hasDocType(head, 'matroska') },
  // Other audio formats may have ID3 tags too, but it is nearly always MP3.
  family('mp3', letters('ID3')),
  { ...family('mp3', hex('ff')), test: isMp3Frame },
  family('tif', hex('49 49 2a 00')),
  family('tif', hex('4d 4d 00 2a')),
  family('ico', hex('00 00 01 00'), hex('00', 5)),
  family('tar', letters('ustar', 257)),
];

function hasSign(head: Uint8Array, { at, bytes }: Sign): boolean {
  return bytes.every((byte, index) => head[at + index] === byte);
}

const EBML_HEADER_BYTES = 64;

function hasDocType(head: Uint8Array, name: string): boolean {
  return new TextDecoder('latin1').decode(head.subarray(0, EBML_HEADER_BYTES)).includes(name);
}

/** A layer III frame with a valid version, bit rate and sample rate. */
function isMp3Frame(head: Uint8Array): boolean {
  const [, version = 0, rates = 0xff] = head;
  const isLayer3 = (version & 0xe6) === 0xe2;
  return isLayer3 && (version & 0x18) !== 0x08 && (rates & 0xf0) !== 0xf0 && (rates & 0x0c) !== 0x0c;
}
