/** Tags of TIFF and EXIF. */
export const TIFF_WIDTH = 256;
export const TIFF_HEIGHT = 257;
const ORIENTATION = 274;

const MAX_ENTRIES = 1000;
const ENTRY_BYTES = 12;
const SHORT = 3;
const LONG = 4;

/** The whole numbers in the first directory of a TIFF file, by tag. EXIF has the same format. */
export function readTags(bytes: Uint8Array): ReadonlyMap<number, number> {
  const tags = new Map<number, number>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const order = view.byteLength >= 8 ? view.getUint16(0) : 0;
  const little = order === 0x4949;
  if ((!little && order !== 0x4d4d) || view.getUint16(2, little) !== 42) return tags;
  const start = view.getUint32(4, little);
  if (start + 2 > view.byteLength) return tags;
  const count = Math.min(view.getUint16(start, little), MAX_ENTRIES);
  for (let at = start + 2; at < start + 2 + count * ENTRY_BYTES; at += ENTRY_BYTES) {
    if (at + ENTRY_BYTES > view.byteLength) break;
    const type = view.getUint16(at + 2, little);
    if (type !== SHORT && type !== LONG) continue;
    const value = type === SHORT ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little);
    tags.set(view.getUint16(at, little), value);
  }
  return tags;
}

/** 1 to 8, as EXIF counts. Values above 4 exchange width and height. */
export function orientationOf(bytes: Uint8Array): number {
  const exif = findExif(bytes);
  const value = (exif && readTags(exif).get(ORIENTATION)) ?? 1;
  return value >= 1 && value <= 8 ? value : 1;
}

const START_OF_IMAGE = 0xffd8;
const START_OF_SCAN = 0xda;
const APP1 = 0xe1;
const EXIF = 'Exif\0\0';

function findExif(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 4 || view.getUint16(0) !== START_OF_IMAGE)
    return readTags(bytes).size > 0 ? bytes : undefined;
  for (let at = 2; at + 4 <= view.byteLength && bytes[at] === 0xff; ) {
    const marker = view.getUint8(at + 1);
    const length = view.getUint16(at + 2);
    const body = bytes.subarray(at + 4, at + 2 + length);
    if (marker === APP1 && Buffer.from(body.subarray(0, EXIF.length)).toString('latin1') === EXIF)
      return body.subarray(EXIF.length);
    if (marker === START_OF_SCAN || length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}
