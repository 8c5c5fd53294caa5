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
