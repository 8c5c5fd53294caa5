/** Readers that share nothing with the encoders they check. */

/** The CRC of PNG and ZIP, bit by bit. */
export function computeCrc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** The RGBA pixels of each frame of a GIF whose frames fill the screen and share one palette. */
export function readGifFrames(gif: Buffer): Buffer[] {
  const colours = 2 ** ((gif.readUInt8(10) & 7) + 1);
  const palette = gif.subarray(13, 13 + colours * 3);
  const pixels = gif.readUInt16LE(6) * gif.readUInt16LE(8);
  const frames: Buffer[] = [];
  let at = 13 + palette.length;
  while (gif[at] !== 0x3b) {
    const isImage = gif[at] === 0x2c;
    const { data, end } = joinBlocks(gif, at + (isImage ? 11 : 2));
    if (isImage) frames.push(colourPixels(expandLzw(data, gif.readUInt8(at + 10)), palette, pixels));
    at = end;
  }
  return frames;
}

function joinBlocks(gif: Buffer, start: number): { data: Buffer; end: number } {
  const blocks: Buffer[] = [];
  let at = start;
  for (let length = gif.readUInt8(at); length > 0; length = gif.readUInt8(at)) {
    blocks.push(gif.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { data: Buffer.concat(blocks), end: at + 1 };
}

function colourPixels(indices: readonly number[], palette: Buffer, pixels: number): Buffer {
  if (indices.length !== pixels) throw new Error(`Expected ${pixels} pixels, found ${indices.length}.`);
  return Buffer.from(indices.flatMap((index) => [...palette.subarray(index * 3, index * 3 + 3), 255]));
}

function expandLzw(data: Buffer, depth: number): number[] {
  const clear = 2 ** depth;
  const roots = Array.from({ length: clear + 2 }, (_, i) => [i]);
  const output: number[] = [];
  let table = [...roots];
  let width = depth + 1;
  let previous: readonly number[] | undefined;
  for (let position = 0; ; ) {
    const code = readBits(data, position, width);
    position += width;
    if (code === clear + 1) return output;
    if (code === clear) {
      [table, width, previous] = [[...roots], depth + 1, undefined];
      continue;
    }
    const known = table[code];
    const entry: number[] = known ?? [...(previous ?? []), previous?.[0] ?? 0];
    if (!known && code !== table.length) throw new Error(`Code ${code} is not in the table yet.`);
    if (previous && table.length < 4096) table.push([...previous, entry[0] ?? 0]);
    if (table.length === 2 ** width && width < 12) width += 1;
    output.push(...entry);
    previous = entry;
  }
}

function readBits(data: Buffer, position: number, count: number): number {
  let value = 0;
  for (let i = 0; i < count; i++) {
    const at = position + i;
    value |= ((data.readUInt8(at >> 3) >> (at & 7)) & 1) << i;
  }
  return value;
}
