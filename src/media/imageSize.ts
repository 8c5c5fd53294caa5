export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size of a PNG, GIF, JPEG or WebP; undefined for other formats or if the head is too short. */
export function imageSize(head: Uint8Array): ImageSize | undefined {
  return firstResult([pngSize, gifSize, jpegSize, webpSize], viewOf(head));
}

/** A reader that reaches the end of its bytes has no result: a DataView throws a RangeError there. */
export function firstResult<I, O>(
  readers: readonly ((input: I) => O | undefined)[],
  input: I,
): O | undefined {
  for (const read of readers) {
    try {
      const result = read(input);
      if (result !== undefined) return result;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export function isAscii(view: DataView, at: number, text: string): boolean {
  return [...text].every((letter, index) => view.getUint8(at + index) === letter.charCodeAt(0));
}

/**
 * Whether a PNG is truncated. With the tail of a long file, searches it for the end marker; without, follows the chunks,
 * so that trailing data is ignored.
 */
export function isCutPng(head: Uint8Array, tail?: Uint8Array): boolean {
  const view = viewOf(head);
  if (!isPng(view)) return false;
  return tail ? Buffer.from(tail).indexOf('IEND') < 0 : !reachesEnd(view);
}

const PNG_HEAD_BYTES = 8;
const PNG_HEADER_END = 24;
const CHUNK_FRAME_BYTES = 12;

function reachesEnd(view: DataView): boolean {
  for (let at = PNG_HEAD_BYTES; at + 8 <= view.byteLength; at += view.getUint32(at) + CHUNK_FRAME_BYTES) {
    if (isAscii(view, at + 4, 'IEND')) return true;
  }
  return false;
}

function isPng(view: DataView): boolean {
  const begins =
    view.byteLength >= PNG_HEADER_END && view.getUint32(0) === 0x89504e47 && view.getUint32(4) === 0x0d0a1a0a;
  return begins && isAscii(view, 12, 'IHDR');
}

function pngSize(view: DataView): ImageSize | undefined {
  return isPng(view) ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
}

function gifSize(view: DataView): ImageSize | undefined {
  if (!isAscii(view, 0, 'GIF8')) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function jpegSize(view: DataView): ImageSize | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (startsFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    else at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** SOF0 to SOF15, except DHT, JPG and DAC. */
function startsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function webpSize(view: DataView): ImageSize | undefined {
  if (!isAscii(view, 0, 'RIFF') || !isAscii(view, 8, 'WEBP')) return undefined;
  if (isAscii(view, 12, 'VP8X')) return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) };
  if (isAscii(view, 12, 'VP8 '))
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (!isAscii(view, 12, 'VP8L')) return undefined;
  const bits = view.getUint32(21, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
}
