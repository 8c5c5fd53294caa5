import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { durationSeconds } from '../../../src/media/measure.ts';

const ascii = (text: string) => Buffer.from(text, 'latin1');
const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const be32 = (value: number) => u32(value).reverse();
const u16 = (value: number) => Buffer.from(Uint16Array.of(value).buffer);
const join = (...parts: readonly (Uint8Array | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.alloc(part) : part)));

const secondsOf = (bytes: Uint8Array, size = bytes.length) =>
  durationSeconds({ head: bytes.subarray(0, 65_536), tail: bytes.subarray(-65_536), size });

const wav = (dataBytes: number) =>
  join(
    ...[ascii('RIFF'), u32(0), ascii('WAVEfmt '), u32(16), u16(1), u16(1), u32(8000), u32(16_000), u16(2)],
    ...[u16(16), ascii('LIST'), u32(3), 4, ascii('data'), u32(dataBytes)],
  );

const ogg = (packet: Uint8Array, samples: number) =>
  join(
    ...[ascii('OggS'), 22, Buffer.of(1, packet.length), packet],
    ...[ascii('OggS'), 2, u32(samples), u32(0), 12, Buffer.of(1, 0)],
  );

const frame = (bits: number) => be32(bits);
const TAG = join(ascii('ID3'), 3, Buffer.of(0, 0, 0, 20), 20);

describe('the duration of audio', () => {
  const cases: readonly [name: string, bytes: Uint8Array, size: number | undefined, expected: unknown][] = [
    ['WAV, with a chunk between', wav(40_000), 100_000, 2.5],
    ['WAV of unknown length: the rest of the file', wav(0xffffffff), wav(0).length + 32_000, 2],
    ['FLAC', join(ascii('fLaC'), 14, be32(44_100 << 12), be32(88_200), 20), undefined, 2],
    ['Opus', ogg(join(ascii('OpusHead'), 2, u16(480), 6), 48_480), undefined, 1],
    ['Vorbis', ogg(join(ascii('\x01vorbis'), 5, u32(22_050)), 44_100), undefined, 2],
    ['MP3 of one rate', join(frame(0xfffb9000), 60_000), 16_000 * 3, 3],
    [
      'MP3 that counts its frames, after a tag',
      join(TAG, frame(0xfffb9000), 32, ascii('Xing'), be32(1), be32(1000)),
      undefined,
      (1000 * 1152) / 44_100,
    ],
    [
      'M4A',
      join(be32(8), ascii('ftyp'), 100, be32(108), ascii('mvhd'), 12, be32(1000), be32(4500)),
      undefined,
      4.5,
    ],
    [
      'M4A whose box is at the end',
      join(be32(8), ascii('ftyp'), 200_000, ascii('mvhd'), 12, be32(600), be32(900)),
      undefined,
      1.5,
    ],
    ['a WAV that ends in its head', wav(40_000).subarray(0, 30), undefined, undefined],
    ['not audio', ascii('Hello, world. This is text and nothing more.'), undefined, undefined],
    ['nothing', Buffer.alloc(0), undefined, undefined],
  ];
  for (const [name, bytes, size, expected] of cases) {
    it(name, () => assert.equal(secondsOf(bytes, size), expected));
  }
});
