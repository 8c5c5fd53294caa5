import { type BitWriter, createBitWriter } from './bits.ts';
import { type Rgba, type RgbaImage, readPixel } from './image.ts';
import { buildPrefixCode, type PrefixCode } from './prefixCode.ts';

const SIGNATURE = 0x2f;
const PREDICTOR_TRANSFORM = 0;
const PREDICT_LEFT = 1;
/** One block of the predictor covers 2^9 pixels each way, so one entry serves the whole image. */
const PREDICTOR_BITS = 9;
const MAX_SIDE = 2 ** PREDICTOR_BITS;
/** Green also numbers the lengths of copies, which we never make, as we never use distances. */
const GREEN_SYMBOLS = 256 + 24;
const LENGTH_ORDER = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/** A lossless WebP with transparency: each pixel is sent as its difference from the one to its left. */
export function encodeWebp(image: RgbaImage): Uint8Array {
  if (image.width > MAX_SIDE || image.height > MAX_SIDE) {
    throw new Error(`This WebP encoder takes at most ${MAX_SIDE} × ${MAX_SIDE} pixels.`);
  }
  const bits = createBitWriter('low-first');
  bits.write(SIGNATURE, 8);
  bits.write(image.width - 1, 14);
  bits.write(image.height - 1, 14);
  bits.write(1, 1); // Alpha is in use.
  bits.write(0, 3); // The version of the format.
  writePredictor(bits);
  bits.write(0, 1); // No further transform.
  writePixels(bits, predictLeft(image));
  return wrapRiff(bits.finish());
}

function writePredictor(bits: BitWriter): void {
  bits.write(1, 1);
  bits.write(PREDICTOR_TRANSFORM, 2);
  bits.write(PREDICTOR_BITS - 2, 3);
  bits.write(0, 1); // No colour cache.
  // An image of one pixel, whose green is the predictor. Codes of a single symbol take no bits for the pixel.
  for (const symbol of [PREDICT_LEFT, 0, 0, 0, 0]) writeSingleSymbol(bits, symbol);
}

type Channels = readonly [green: number, red: number, blue: number, alpha: number];

function predictLeft(image: RgbaImage): Channels[] {
  const residuals: Channels[] = [];
  for (let y = 0; y < image.height; y++) {
    for (let x = 0; x < image.width; x++) {
      residuals.push(subtract(readPixel(image, x, y), neighbourOf(image, x, y)));
    }
  }
  return residuals;
}

/** The format fixes what the first pixel and the first column are compared with. */
function neighbourOf(image: RgbaImage, x: number, y: number): Rgba {
  if (x > 0) return readPixel(image, x - 1, y);
  return y > 0 ? readPixel(image, 0, y - 1) : { red: 0, green: 0, blue: 0, alpha: 255 };
}

function subtract(a: Rgba, b: Rgba): Channels {
  return [
    (a.green - b.green) & 255,
    (a.red - b.red) & 255,
    (a.blue - b.blue) & 255,
    (a.alpha - b.alpha) & 255,
  ];
}

function writePixels(bits: BitWriter, residuals: readonly Channels[]): void {
  bits.write(0, 1); // No colour cache.
  bits.write(0, 1); // The same codes for the whole image.
  const codes = [GREEN_SYMBOLS, 256, 256, 256].map((size, channel) => {
    const counts = new Array<number>(size).fill(0);
    for (const residual of residuals) {
      const value = residual[channel] ?? 0;
      counts[value] = (counts[value] ?? 0) + 1;
    }
    return buildPrefixCode(counts, 15);
  });
  for (const code of codes) writeCode(bits, code);
  writeSingleSymbol(bits, 0); // The distances.
  const silenced = codes.map(silenceSingle);
  for (const residual of residuals) {
    for (const [channel, code] of silenced.entries()) writeSymbol(bits, code, residual[channel] ?? 0);
  }
}

function writeSingleSymbol(bits: BitWriter, symbol: number): void {
  bits.write(1, 1); // A simple code …
  bits.write(0, 1); // … of one symbol …
  bits.write(1, 1); // … that is written with eight bits.
  bits.write(symbol, 8);
}

/** A code is described by its lengths, which are themselves sent with a small code. */
function writeCode(bits: BitWriter, code: PrefixCode): void {
  if (countUsed(code) === 1) {
    writeSingleSymbol(bits, code.lengths.indexOf(1));
    return;
  }
  const counts = new Array<number>(LENGTH_ORDER.length).fill(0);
  for (const length of code.lengths) counts[length] = (counts[length] ?? 0) + 1;
  const lengthCode = buildPrefixCode(counts, 7);
  bits.write(0, 1); // Not a simple code.
  bits.write(LENGTH_ORDER.length - 4, 4);
  for (const length of LENGTH_ORDER) bits.write(lengthCode.lengths[length] ?? 0, 3);
  bits.write(0, 1); // Lengths follow for the whole alphabet.
  const silenced = silenceSingle(lengthCode);
  for (const length of code.lengths) writeSymbol(bits, silenced, length);
}

/** Where only one symbol can come, the reader expects no bits for it. */
function silenceSingle(code: PrefixCode): PrefixCode {
  return countUsed(code) === 1 ? { lengths: [], codes: [] } : code;
}

function countUsed(code: PrefixCode): number {
  return code.lengths.filter((length) => length > 0).length;
}

/** Codes go out with their highest bit first, though everything else goes lowest first. */
function writeSymbol(bits: BitWriter, code: PrefixCode, symbol: number): void {
  const value = code.codes[symbol] ?? 0;
  for (let bit = (code.lengths[symbol] ?? 0) - 1; bit >= 0; bit--) bits.write(value >> bit, 1);
}

function wrapRiff(data: Uint8Array): Uint8Array {
  const padded = data.length + (data.length % 2);
  const file = Buffer.alloc(20 + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(12 + padded, 4);
  file.write('WEBPVP8L', 8, 'latin1');
  file.writeUInt32LE(data.length, 16);
  file.set(data, 20);
  return file;
}
