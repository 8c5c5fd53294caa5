import { type BitWriter, createBitWriter } from './bits.ts';

/**
 * MP3 splits its sound into 32 bands and keeps every 32nd sample of each. The lowest band of 48 kHz sound
 * is therefore the sound itself at 1500 Hz, as long as nothing in it is above 750 Hz. This encoder takes
 * such a sound and fills that band alone, which spares it the filters that divide the bands.
 */
export const MP3_BAND_RATE = 48_000 / 32;

const BAND_SAMPLES = 18;
const GRANULES_PER_FRAME = 2;
/** 32 kbit/s: 144 × 32 000 / 48 000 bytes a frame. */
const FRAME_BYTES = 96;
/** MPEG-1, layer III, no checksum; 32 kbit/s, 48 kHz; one channel. */
const FRAME_HEADER = [0xff, 0xfb, 0x14, 0xc0];
/** The gain at which a coefficient of 1 stands for 1. */
const UNIT_GAIN = 210;
const LARGEST_LEVEL = 5;
const SILENCE = 1e-4;

/**
 * The standard's code table 7, for pairs of levels from 0 to 5: row by the first, column by the second.
 * Signs are not in it; they follow as plain bits.
 */
const PAIR_TABLE = 7;
export const PAIR_CODES: readonly (readonly string[])[] = [
  ['1', '010', '001010', '00010011', '00010000', '000001010'],
  ['011', '0011', '000111', '0001010', '0000101', '00000011'],
  ['001011', '00100', '0001101', '00010001', '00001000', '000000100'],
  ['0001100', '0001011', '00010010', '000001111', '000001011', '000000010'],
  ['0000111', '0000110', '00001001', '000001110', '000000011', '0000000001'],
  ['00000110', '00000100', '000000101', '0000000011', '0000000010', '0000000000'],
];

export interface Mp3Options {
  readonly title: string;
  /** Mono, between -1 and 1, at `MP3_BAND_RATE`, with nothing above 700 Hz. */
  readonly samples: Float64Array;
}

export function encodeMp3({ title, samples }: Mp3Options): Uint8Array {
  const granules: Granule[] = [];
  for (let start = 0; start < samples.length; start += BAND_SAMPLES) {
    granules.push(quantize(transform(samples, start)));
  }
  const frames: Uint8Array[] = [];
  for (let i = 0; i < granules.length; i += GRANULES_PER_FRAME) {
    frames.push(writeFrame(granules.slice(i, i + GRANULES_PER_FRAME)));
  }
  return Buffer.concat([writeTitleTag(title), ...frames]);
}

interface Granule {
  readonly gain: number;
  /** Empty for silence. */
  readonly levels: readonly number[];
}

/** The MDCT of two overlapping granules. Its scale makes the decoder's inverse give the samples back. */
function transform(samples: Float64Array, start: number): number[] {
  const span = 2 * BAND_SAMPLES;
  return Array.from({ length: BAND_SAMPLES }, (_, k) => {
    let sum = 0;
    for (let n = 0; n < span; n++) {
      const window = Math.sin((Math.PI / span) * (n + 0.5));
      const basis = Math.cos((Math.PI / (2 * span)) * (2 * n + 1 + BAND_SAMPLES) * (2 * k + 1));
      sum += (samples[start + n] ?? 0) * window * basis;
    }
    return sum / (BAND_SAMPLES / 2);
  });
}

/** A level stands for its 4/3rd power times the gain; the gain is the least that fits the largest one. */
function quantize(coefficients: readonly number[]): Granule {
  const peak = Math.max(...coefficients.map(Math.abs));
  if (peak < SILENCE) return { gain: UNIT_GAIN, levels: [] };
  const quarterOctaves = Math.ceil(4 * Math.log2(peak / LARGEST_LEVEL ** (4 / 3)));
  const step = 2 ** (quarterOctaves / 4);
  const levels = coefficients.map((value) => Math.sign(value) * Math.round((Math.abs(value) / step) ** 0.75));
  return { gain: UNIT_GAIN + quarterOctaves, levels };
}

function writeFrame(granules: readonly Granule[]): Uint8Array {
  const bits = createBitWriter('high-first');
  const bodies = granules.map(({ levels }) => codeLevels(levels));
  for (const byte of FRAME_HEADER) bits.write(byte, 8);
  bits.write(0, 9 + 5 + 4); // The data start in this frame, private bits, and no shared scale factors.
  for (let i = 0; i < GRANULES_PER_FRAME; i++) {
    writeSideInfo(bits, granules[i] ?? { gain: UNIT_GAIN, levels: [] }, bodies[i]?.length ?? 0);
  }
  for (const bit of bodies.join('')) bits.write(Number(bit), 1);
  const frame = new Uint8Array(FRAME_BYTES);
  frame.set(bits.finish());
  return frame;
}

function writeSideInfo(bits: BitWriter, { gain, levels }: Granule, bodyBits: number): void {
  bits.write(bodyBits, 12);
  bits.write(levels.length / 2, 9);
  bits.write(gain, 8);
  bits.write(0, 4 + 1); // No scale factors, and the usual long window.
  for (let region = 0; region < 3; region++) bits.write(PAIR_TABLE, 5);
  bits.write(7, 4); // The first region spans 8 scale factor bands, more than our 18 coefficients.
  bits.write(0, 3 + 1 + 1 + 1);
}

function codeLevels(levels: readonly number[]): string {
  let bits = '';
  for (let i = 0; i < levels.length; i += 2) {
    const pair = [levels[i] ?? 0, levels[i + 1] ?? 0];
    const [first = 0, second = 0] = pair.map(Math.abs);
    const signs = pair.map((level) => (level === 0 ? '' : level < 0 ? '1' : '0'));
    bits += (PAIR_CODES[first]?.[second] ?? '') + signs.join('');
  }
  return bits;
}

/** An ID3v2.3 tag with the title as Latin-1 text. */
function writeTitleTag(title: string): Buffer {
  const text = Buffer.from(`\0${title}`, 'latin1');
  const frame = Buffer.from([...Buffer.from('TIT2', 'latin1'), ...uint32(text.length), 0, 0, ...text]);
  // The tag's size has seven bits a byte, so that it never looks like the start of a frame.
  const size = [21, 14, 7, 0].map((shift) => (frame.length >> shift) & 0x7f);
  return Buffer.from([...Buffer.from('ID3', 'latin1'), 3, 0, 0, ...size, ...frame]);
}

function uint32(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >> shift) & 0xff);
}
