import { createBitWriter } from './bits.ts';
import { type Rgba, type RgbaImage, readPixel } from './image.ts';
import { buildPrefixCode, type PrefixCode } from './prefixCode.ts';

const BLOCK = 8;
const COMPONENTS = [1, 2, 3];

/** One symbol of the entropy-coded scan, with the extra bits that follow it. */
interface Token {
  readonly table: 'dc' | 'ac';
  readonly symbol: number;
  readonly extra: number;
  readonly extraBits: number;
}

/** A baseline JPEG without subsampling; the code tables are made to measure, so none is built in. */
export function encodeJpeg(image: RgbaImage): Uint8Array {
  const tokens = tokenizeImage(image);
  const codes = { dc: buildTable(tokens, 'dc'), ac: buildTable(tokens, 'ac') };
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    writeSegment(0xe0, [...Buffer.from('JFIF\0', 'latin1'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    writeSegment(0xdb, [0, ...ZIGZAG.map(quantizerAt)]),
    writeSegment(0xc0, [8, ...uint16(image.height), ...uint16(image.width), ...describeComponents()]),
    writeSegment(0xc4, [0x00, ...listTable(codes.dc)]),
    writeSegment(0xc4, [0x10, ...listTable(codes.ac)]),
    writeSegment(0xda, [COMPONENTS.length, ...COMPONENTS.flatMap((id) => [id, 0]), 0, 63, 0]),
    writeScan(tokens, codes),
    Buffer.from([0xff, 0xd9]),
  ]);
}

function writeSegment(marker: number, body: readonly number[]): Buffer {
  return Buffer.from([0xff, marker, ...uint16(body.length + 2), ...body]);
}

function uint16(value: number): number[] {
  return [value >> 8, value & 0xff];
}

function describeComponents(): number[] {
  return [COMPONENTS.length, ...COMPONENTS.flatMap((id) => [id, 0x11, 0])];
}

// ---- From pixels to coefficients ---------------------------------------------------------------

const CHANNELS: readonly ((pixel: Rgba) => number)[] = [
  ({ red, green, blue }) => 0.299 * red + 0.587 * green + 0.114 * blue - 128,
  ({ red, green, blue }) => -0.168736 * red - 0.331264 * green + 0.5 * blue,
  ({ red, green, blue }) => 0.5 * red - 0.418688 * green - 0.081312 * blue,
];

/** The order in which a block's coefficients are sent: along the diagonals, from low to high frequencies. */
const ZIGZAG = Array.from({ length: BLOCK * BLOCK }, (_, at) => at).sort(
  (a, b) => rankZigzag(a) - rankZigzag(b),
);

function rankZigzag(at: number): number {
  const [row, column] = [Math.floor(at / BLOCK), at % BLOCK];
  const diagonal = row + column;
  return diagonal * BLOCK + (diagonal % 2 === 0 ? column : row);
}

/** Fine steps for low frequencies and coarse ones for high, about a quality of 90. */
function quantizerAt(at: number): number {
  return 3 + 2 * (Math.floor(at / BLOCK) + (at % BLOCK));
}

const COSINES = Array.from({ length: BLOCK }, (_, frequency) =>
  Array.from({ length: BLOCK }, (_, position) => {
    const scale = frequency === 0 ? Math.SQRT1_2 / 2 : 1 / 2;
    return scale * Math.cos(((2 * position + 1) * frequency * Math.PI) / (2 * BLOCK));
  }),
);

function transformBlock(samples: readonly number[]): number[] {
  const rows = transformRows(samples);
  return transformRows(rows);
}

/** Transforms each row and returns the block turned on its side, so that a second call does the columns. */
function transformRows(samples: readonly number[]): number[] {
  const turned: number[] = [];
  for (const cosines of COSINES) {
    for (let row = 0; row < BLOCK; row++) {
      let sum = 0;
      for (const [column, cosine] of cosines.entries()) sum += cosine * (samples[row * BLOCK + column] ?? 0);
      turned.push(sum);
    }
  }
  return turned;
}

// ---- From coefficients to symbols --------------------------------------------------------------

function tokenizeImage(image: RgbaImage): Token[] {
  const tokens: Token[] = [];
  const lastDc = CHANNELS.map(() => 0);
  for (let top = 0; top < image.height; top += BLOCK) {
    for (let left = 0; left < image.width; left += BLOCK) {
      const pixels = ZIGZAG.map((_, at) =>
        readPixel(image, left + (at % BLOCK), top + Math.floor(at / BLOCK)),
      );
      for (const [channel, convert] of CHANNELS.entries()) {
        const coefficients = transformBlock(pixels.map(convert));
        const sent = ZIGZAG.map((at) => Math.round((coefficients[at] ?? 0) / quantizerAt(at)));
        const [dc = 0, ...ac] = sent;
        tokens.push(makeToken('dc', 0, dc - (lastDc[channel] ?? 0)), ...tokenizeAc(ac));
        lastDc[channel] = dc;
      }
    }
  }
  return tokens;
}

function tokenizeAc(coefficients: readonly number[]): Token[] {
  const tokens: Token[] = [];
  let zeros = 0;
  for (const value of coefficients) {
    if (value === 0) {
      zeros += 1;
      continue;
    }
    for (; zeros > 15; zeros -= 16) tokens.push({ table: 'ac', symbol: 0xf0, extra: 0, extraBits: 0 });
    tokens.push(makeToken('ac', zeros, value));
    zeros = 0;
  }
  if (zeros > 0) tokens.push({ table: 'ac', symbol: 0, extra: 0, extraBits: 0 });
  return tokens;
}

/** A value is sent as its number of bits and then those bits; negative ones as their complement. */
function makeToken(table: 'dc' | 'ac', zerosBefore: number, value: number): Token {
  const extraBits = 32 - Math.clz32(Math.abs(value));
  const extra = value < 0 ? value + 2 ** extraBits - 1 : value;
  return { table, symbol: zerosBefore * 16 + extraBits, extra, extraBits };
}

// ---- From symbols to bytes ---------------------------------------------------------------------

const ALPHABET = 256;

/**
 * JPEG forbids a code of ones alone. A symbol that never occurs, rarer than all and last among equals,
 * takes that code, and is left out of the table.
 */
function buildTable(tokens: readonly Token[], table: Token['table']): PrefixCode {
  const counts = new Array<number>(ALPHABET + 1).fill(0);
  for (const token of tokens)
    if (token.table === table) counts[token.symbol] = (counts[token.symbol] ?? 0) + 1;
  counts[ALPHABET] = 0.5;
  const code = buildPrefixCode(counts, 16);
  return { lengths: code.lengths.slice(0, ALPHABET), codes: code.codes.slice(0, ALPHABET) };
}

function listTable({ lengths }: PrefixCode): number[] {
  const groups = Array.from({ length: 16 }, (_, i) =>
    [...lengths.keys()].filter((symbol) => lengths[symbol] === i + 1),
  );
  return [...groups.map((group) => group.length), ...groups.flat()];
}

function writeScan(tokens: readonly Token[], codes: Readonly<Record<Token['table'], PrefixCode>>): Buffer {
  const bits = createBitWriter('high-first');
  for (const { table, symbol, extra, extraBits } of tokens) {
    bits.write(codes[table].codes[symbol] ?? 0, codes[table].lengths[symbol] ?? 0);
    bits.write(extra, extraBits);
  }
  // Within the scan a byte of ones would look like a marker, so a zero follows each.
  return Buffer.from([...bits.finish(1)].flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte])));
}
