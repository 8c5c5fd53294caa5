import { createBitWriter } from './bits.ts';
import type { RgbaImage } from './image.ts';

const MAX_COLOURS = 256;
const MAX_CODES = 4096;

export interface GifOptions {
  readonly frames: readonly [RgbaImage, ...RgbaImage[]];
  readonly frameMs: number;
}

/** An endless animation. All frames are of one size and share one palette of at most 256 colours. */
export function encodeGif({ frames, frameMs }: GifOptions): Uint8Array {
  const [{ width, height }] = frames;
  const palette = collectPalette(frames);
  const depth = Math.max(2, Math.ceil(Math.log2(palette.size)));
  const delay = uint16(Math.round(frameMs / 10));
  const screen = [...uint16(width), ...uint16(height), 0x80 | 0x70 | (depth - 1), 0, 0];
  const images = frames.flatMap((frame) => [
    Buffer.from([0x21, 0xf9, 4, 0, ...delay, 0, 0]),
    Buffer.from([0x2c, 0, 0, 0, 0, ...uint16(width), ...uint16(height), 0, depth]),
    splitBlocks(compressLzw(indexPixels(frame, palette), depth)),
  ]);
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    Buffer.from(screen),
    listPalette(palette, depth),
    Buffer.from([0x21, 0xff, 11, ...Buffer.from('NETSCAPE2.0', 'latin1'), 3, 1, 0, 0, 0]),
    ...images,
    Buffer.from([0x3b]),
  ]);
}

function uint16(value: number): number[] {
  return [value & 0xff, value >> 8];
}

function* readColours({ pixels }: RgbaImage): Generator<number> {
  for (let at = 0; at < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
    yield (red << 16) | (green << 8) | blue;
  }
}

function collectPalette(frames: readonly RgbaImage[]): Map<number, number> {
  const palette = new Map<number, number>();
  for (const frame of frames) {
    for (const colour of readColours(frame)) if (!palette.has(colour)) palette.set(colour, palette.size);
  }
  if (palette.size > MAX_COLOURS) {
    throw new Error(
      `A GIF holds at most ${MAX_COLOURS} colours, these frames have ${palette.size}. Draw with fewer.`,
    );
  }
  return palette;
}

function listPalette(palette: ReadonlyMap<number, number>, depth: number): Buffer {
  const table = Buffer.alloc(3 * 2 ** depth);
  for (const [colour, index] of palette) table.writeUIntBE(colour, index * 3, 3);
  return table;
}

function indexPixels(frame: RgbaImage, palette: ReadonlyMap<number, number>): number[] {
  return Array.from(readColours(frame), (colour) => palette.get(colour) ?? 0);
}

/** GIF's LZW: codes grow by a bit as the table fills, and a full table is cleared. */
function compressLzw(indices: readonly number[], depth: number): Uint8Array {
  const bits = createBitWriter('low-first');
  const clear = 2 ** depth;
  let table = new Map<number, number>();
  let width = depth + 1;
  let [prefix = 0] = indices;

  bits.write(clear, width);
  for (const index of indices.slice(1)) {
    const key = prefix * MAX_COLOURS + index;
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    bits.write(prefix, width);
    prefix = index;
    const next = clear + 2 + table.size;
    if (next === MAX_CODES) {
      bits.write(clear, width);
      table = new Map();
      width = depth + 1;
      continue;
    }
    table.set(key, next);
    // The reader learns each entry one code later than we do, so the width grows after the entry that needs it.
    if (next === 2 ** width) width += 1;
  }
  bits.write(prefix, width);
  // The last code teaches the reader one more entry, which may widen the code that ends the data.
  const learnt = clear + 2 + table.size;
  bits.write(clear + 1, learnt === 2 ** width && width < 12 ? width + 1 : width);
  return bits.finish();
}

function splitBlocks(data: Uint8Array): Buffer {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255);
    blocks.push(Uint8Array.of(block.length), block);
  }
  return Buffer.concat([...blocks, Uint8Array.of(0)]);
}
