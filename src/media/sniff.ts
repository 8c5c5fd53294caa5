import { fileTypeFromBuffer } from 'file-type';
import type { AssetBytes } from '../ports/results.ts';

import { imageSize, isCutPng } from './imageSize.ts';
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

/** What bytes begin with, and what that says: the one table of signatures, for whoever cannot wait. */

export interface Magic {
  /** A name of the table of media types. */
  readonly extension: string;
  /** False where many kinds begin alike, and only what stands further in tells which of them it is. */
  readonly isFinal: boolean;
}

/** The first row that fits. Nothing is decided by a signature that ordinary words could begin with. */
export function sniffMagic(head: Uint8Array): Magic | undefined {
  const row = ROWS.find(
    ({ signs, fits }) => signs.every((sign) => holds(head, sign)) && fits?.(head) !== false,
  );
  return row && { extension: row.extension, isFinal: row.isFinal };
}

/** Whether the table has the last word on a format: what has none of its signatures is not of it. */
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
  readonly fits?: (head: Uint8Array) => boolean;
}

/** A signature in hexadecimal, at an offset. */
function hex(digits: string, at = 0): Sign {
  return { at, bytes: digits.split(' ').map((pair) => Number.parseInt(pair, 16)) };
}

/** The same in letters. */
function letters(text: string, at = 0): Sign {
  return { at, bytes: [...text].map((letter) => letter.charCodeAt(0)) };
}

const final = (extension: string, ...signs: Sign[]): Row => ({ extension, signs, isFinal: true });
const family = (extension: string, ...signs: Sign[]): Row => ({ extension, signs, isFinal: false });

const ROWS: readonly Row[] = [
  // An animated one has a chunk of its own somewhere before its pixels.
  family('png', hex('89 50 4e 47')),
  { ...final('jpg', hex('ff d8 ff')), fits: (head) => head[3] !== 0xf7 },
  final('gif', letters('GIF8')),
  final('webp', letters('RIFF'), letters('WEBP', 8)),
  final('wav', letters('RIFF'), letters('WAVE', 8)),
  final('avi', letters('RIFF'), letters('AVI ', 8)),
  // What follows the size is reserved: a text that begins with BM has letters there.
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
  // Office files and books are archives inside.
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
  { ...family('webm', hex('1a 45 df a3')), fits: (head) => namesDocument(head, 'webm') },
  { ...family('mkv', hex('1a 45 df a3')), fits: (head) => namesDocument(head, 'matroska') },
  // A tag that other sounds may carry too; nearly all that do are MP3.
  family('mp3', letters('ID3')),
  { ...family('mp3', hex('ff')), fits: isMp3Frame },
  family('tif', hex('49 49 2a 00')),
  family('tif', hex('4d 4d 00 2a')),
  family('ico', hex('00 00 01 00'), hex('00', 5)),
  family('tar', letters('ustar', 257)),
];

function holds(head: Uint8Array, { at, bytes }: Sign): boolean {
  return bytes.every((byte, index) => head[at + index] === byte);
}

/** Where a Matroska file says what it is for. */
const DOCUMENT_HEAD_BYTES = 64;

function namesDocument(head: Uint8Array, name: string): boolean {
  return new TextDecoder('latin1').decode(head.subarray(0, DOCUMENT_HEAD_BYTES)).includes(name);
}

/** A frame of layer III whose version, bit rate and sampling rate exist. */
function isMp3Frame(head: Uint8Array): boolean {
  const [, version = 0, rates = 0xff] = head;
  const isLayer3 = (version & 0xe6) === 0xe2;
  return isLayer3 && (version & 0x18) !== 0x08 && (rates & 0xf0) !== 0xf0 && (rates & 0x0c) !== 0x0c;
}
