import { imageDimensionsFromData } from 'image-dimensions';
import { readTags, TIFF_HEIGHT, TIFF_WIDTH } from './tiff.ts';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Enough for all formats but JPEG. */
const MAX_HEAD_BYTES = 64 * 1024;
/** A JPEG may have a color profile and a preview before it, which are skipped. */
const MAX_JPEG_HEAD_BYTES = 4 * 1024 * 1024;

/** The size of a PNG, GIF, JPEG, WebP, AVIF, HEIC, BMP or TIFF; undefined for other formats or if the head is too short. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8;
  // The library copies what it gets, and makes an object for each property.
  const head = bytes.subarray(0, isJpeg ? MAX_JPEG_HEAD_BYTES : MAX_HEAD_BYTES);
  const found = imageDimensionsFromData(head) ?? bitmapSize(bytes);
  return found && { width: found.width, height: found.height };
}

const BITMAP_SIZE_END = 26;

function bitmapSize(head: Uint8Array): ImageSize | undefined {
  const view = viewOf(head);
  if (view.byteLength >= BITMAP_SIZE_END && isAscii(view, 0, 'BM')) {
    // A negative height means rows from the top down.
    return { width: Math.abs(view.getInt32(18, true)), height: Math.abs(view.getInt32(22, true)) };
  }
  const tags = readTags(head);
  const [width, height] = [tags.get(TIFF_WIDTH), tags.get(TIFF_HEIGHT)];
  return width === undefined || height === undefined ? undefined : { width, height };
}

/**
 * Whether a PNG is truncated. Follows the chunks, so that trailing data is ignored; then searches the tail of a long file
 * for the end marker.
 */
export function isCutPng(head: Uint8Array, tail?: Uint8Array): boolean {
  const view = viewOf(head);
  if (!isPng(view)) return false;
  if (reachesEnd(view)) return false;
  return !tail || Buffer.from(tail).indexOf('IEND') < 0;
}

const PNG_SIGNATURE = '\x89PNG\r\n\x1a\n';
const PNG_HEADER_END = 24;
const CHUNK_FRAME_BYTES = 12;

function reachesEnd(view: DataView): boolean {
  for (
    let at = PNG_SIGNATURE.length;
    at + 8 <= view.byteLength;
    at += view.getUint32(at) + CHUNK_FRAME_BYTES
  ) {
    if (isAscii(view, at + 4, 'IEND')) return true;
  }
  return false;
}

function isPng(view: DataView): boolean {
  return view.byteLength >= PNG_HEADER_END && isAscii(view, 0, PNG_SIGNATURE) && isAscii(view, 12, 'IHDR');
}

interface MediaEnds {
  readonly head: Uint8Array;
  /** The last bytes of the file; they may overlap with the head. */
  readonly tail: Uint8Array;
  /** Of the whole file. */
  readonly size: number;
}

/** The duration of WAV, FLAC, OGG, MP3 and M4A or MP4; undefined for other formats. */
export function durationSeconds(media: MediaEnds): number | undefined {
  for (const read of [wavSeconds, flacSeconds, oggSeconds, mp4Seconds, mp3Seconds]) {
    try {
      const seconds = read(media);
      if (seconds !== undefined) return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
    } catch (error) {
      // At the end of its bytes a DataView throws, and the reader has no result.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;

/** A streaming writer cannot fill in the length: then the data takes the rest of the file. */
function wavSeconds({ head, size }: MediaEnds): number | undefined {
  const view = viewOf(head);
  if (!isAscii(view, 0, 'RIFF') || !isAscii(view, 8, 'WAVE')) return undefined;
  let bytesPerSecond = 0;
  for (let at = RIFF_HEADER_BYTES; ; ) {
    const length = view.getUint32(at + 4, true);
    const body = at + CHUNK_HEADER_BYTES;
    if (isAscii(view, at, 'fmt ')) bytesPerSecond = view.getUint32(body + 8, true);
    if (isAscii(view, at, 'data')) return Math.min(length, size - body) / bytesPerSecond;
    at = body + length + (length % 2);
  }
}

function flacSeconds({ head }: MediaEnds): number | undefined {
  const view = viewOf(head);
  if (!isAscii(view, 0, 'fLaC')) return undefined;
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of samples.
  const rate = view.getUint32(18) >>> 12;
  const samples = (view.getUint8(21) & 0x0f) * 2 ** 32 + view.getUint32(22);
  return rate > 0 && samples > 0 ? samples / rate : undefined;
}

const OPUS_RATE = 48_000;

/** The last page contains the number of samples, the first page the sample rate. */
function oggSeconds({ head, tail }: MediaEnds): number | undefined {
  const view = viewOf(head);
  if (!isAscii(view, 0, 'OggS')) return undefined;
  const packet = 27 + view.getUint8(26);
  const end = lastGranule(tail);
  if (end === undefined) return undefined;
  if (isAscii(view, packet, 'OpusHead')) return (end - view.getUint16(packet + 10, true)) / OPUS_RATE;
  return isAscii(view, packet + 1, 'vorbis') ? end / view.getUint32(packet + 12, true) : undefined;
}

function lastGranule(tail: Uint8Array): number | undefined {
  const at = Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength).lastIndexOf('OggS');
  if (at < 0) return undefined;
  const view = viewOf(tail);
  const high = view.getUint32(at + 10, true);
  // All bits set: no packet ends on this page.
  return high === 0xffffffff ? undefined : high * 2 ** 32 + view.getUint32(at + 6, true);
}

/** The `mvhd` box is near the beginning or the end of the file. */
function mp4Seconds({ head, tail }: MediaEnds): number | undefined {
  if (!isAscii(viewOf(head), 4, 'ftyp')) return undefined;
  return movieSeconds(head) ?? movieSeconds(tail);
}

function movieSeconds(bytes: Uint8Array): number | undefined {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf('mvhd');
  if (at < 0) return undefined;
  const view = viewOf(bytes);
  const isLong = view.getUint8(at + 4) === 1;
  const scale = view.getUint32(at + (isLong ? 24 : 16));
  const units = isLong
    ? view.getUint32(at + 28) * 2 ** 32 + view.getUint32(at + 32)
    : view.getUint32(at + 20);
  return scale > 0 ? units / scale : undefined;
}

const MPEG1_KBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG2_KBITS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const MPEG1_RATES = [44_100, 48_000, 32_000];

/** Layer III. The first frame may contain the number of frames; otherwise a constant bit rate is assumed. */
function mp3Seconds({ head, size }: MediaEnds): number | undefined {
  const view = viewOf(head);
  const start = isAscii(view, 0, 'ID3') ? 10 + syncSafe(view, 6) : 0;
  const header = view.getUint32(start);
  if (header >>> 21 !== 0x7ff || ((header >>> 17) & 3) !== 1) return undefined;
  const version = (header >>> 19) & 3;
  const isMpeg1 = version === 3;
  const kbits = (isMpeg1 ? MPEG1_KBITS : MPEG2_KBITS)[(header >>> 12) & 15];
  const rate = MPEG1_RATES[(header >>> 10) & 3];
  if (!kbits || !rate || version === 1) return undefined;
  const samplesPerFrame = isMpeg1 ? 1152 : 576;
  const isMono = ((header >>> 6) & 3) === 3;
  const side = isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const tag = start + 4 + side;
  if (isAscii(view, tag, 'Xing') || isAscii(view, tag, 'Info')) {
    const hasFrames = (view.getUint32(tag + 4) & 1) === 1;
    const slower = isMpeg1 ? 1 : version === 2 ? 2 : 4;
    if (hasFrames) return (view.getUint32(tag + 8) * samplesPerFrame * slower) / rate;
  }
  return ((size - start) * 8) / (kbits * 1000);
}

/** Seven bits of each byte. */
function syncSafe(view: DataView, at: number): number {
  let value = 0;
  for (let each = 0; each < 4; each += 1) value = value * 128 + (view.getUint8(at + each) & 0x7f);
  return value;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isAscii(view: DataView, at: number, text: string): boolean {
  return [...text].every((letter, index) => view.getUint8(at + index) === letter.charCodeAt(0));
}

const [EXTENSION, IMAGE] = [0x21, 0x2c];

/** Whether a GIF has more than one frame. */
export function hasFrames(bytes: Uint8Array): boolean {
  const tableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  let at = 13 + tableBytes(bytes[10] ?? 0);
  for (let frames = 0; at < bytes.length; ) {
    const kind = bytes[at];
    if (kind === IMAGE) {
      frames += 1;
      if (frames > 1) return true;
      at += 11 + tableBytes(bytes[at + 9] ?? 0);
    } else if (kind === EXTENSION) at += 2;
    else return false;
    // Blocks of data, each with its length; the last one is empty.
    while ((bytes[at] ?? 0) > 0) at += 1 + (bytes[at] as number);
    at += 1;
  }
  return false;
}
