import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { fileTypeFromBuffer } from 'file-type';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodeGif } from '../../../samples/server/encode/gif.ts';
import type { RgbaImage } from '../../../samples/server/encode/image.ts';
import { encodeJpeg } from '../../../samples/server/encode/jpeg.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { buildPrefixCode } from '../../../samples/server/encode/prefixCode.ts';
import { encodeWebp } from '../../../samples/server/encode/webp.ts';
import { drawBadge, drawBounce, drawLandscape } from '../../../samples/server/scenes.ts';
import { computeCrc32, readGifFrames } from './decode.ts';

const chart = drawChart({ title: 'Rain', values: [3, -1, 4], labels: ['a', 'b'], style: 'line' });

describe('encodePng', () => {
  it('gives back every pixel, in chunks whose checksums are right', async () => {
    const png = Buffer.from(encodePng(chart));
    assert.equal((await fileTypeFromBuffer(png))?.mime, 'image/png');
    const chunks: { type: string; data: Buffer }[] = [];
    for (let at = 8; at < png.length; ) {
      const length = png.readUInt32BE(at);
      const body = png.subarray(at + 4, at + 8 + length);
      assert.equal(png.readUInt32BE(at + 8 + length), computeCrc32(body));
      chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4) });
      at += 12 + length;
    }
    assert.deepEqual(
      chunks.map((chunk) => chunk.type),
      ['IHDR', 'IDAT', 'IEND'],
    );
    const [header, data] = chunks;
    assert.deepEqual([header?.data.readUInt32BE(0), header?.data.readUInt32BE(4)], [640, 400]);
    const rows = inflateSync(data?.data ?? Buffer.alloc(0));
    const stride = chart.width * 4;
    assert.equal(rows.length, (stride + 1) * chart.height);
    for (let y = 0; y < chart.height; y++) {
      assert.equal(rows[y * (stride + 1)], 0);
      const row = rows.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1));
      assert.ok(row.equals(Buffer.from(chart.pixels.subarray(y * stride, (y + 1) * stride))), `row ${y}`);
    }
  });
});

describe('encodeGif', () => {
  it('gives back every pixel of every frame', async () => {
    const frames = drawBounce();
    const gif = Buffer.from(encodeGif({ frames, frameMs: 60 }));
    assert.equal((await fileTypeFromBuffer(gif))?.mime, 'image/gif');
    assertFrames(gif, frames);
  });

  it('survives a full code table and every width of the last code', () => {
    // Noise fills the 4096 codes soon, and each length ends the data at another place in the table.
    for (const pixels of [1, 2, 3, 252, 253, 254, 255, 256, 257, 258, 259, 9000]) {
      const frame = drawNoise(pixels);
      assertFrames(Buffer.from(encodeGif({ frames: [frame], frameMs: 10 })), [frame]);
    }
  });

  it('refuses more colours than the format has', () => {
    assert.throws(() => encodeGif({ frames: [drawLandscape()], frameMs: 60 }), /at most 256 colours/);
  });
});

function assertFrames(gif: Buffer, frames: readonly RgbaImage[]): void {
  const decoded = readGifFrames(gif);
  assert.equal(decoded.length, frames.length);
  for (const [i, frame] of frames.entries())
    assert.ok(Buffer.from(frame.pixels).equals(decoded[i] ?? Buffer.alloc(0)));
}

/** One row of greys that a simple generator picks, the same on every run. */
function drawNoise(width: number): RgbaImage {
  const pixels = new Uint8ClampedArray(width * 4);
  let state = 1;
  for (let at = 0; at < pixels.length; at += 4) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    pixels.fill((state >> 16) & 0x7f, at, at + 3);
    pixels[at + 3] = 255;
  }
  return { width, height: 1, pixels };
}

describe('encodeJpeg', () => {
  it('is a baseline JPEG of the right size, also where blocks stick out', async () => {
    const narrow = { width: 13, height: 5, pixels: new Uint8ClampedArray(13 * 5 * 4).fill(200) };
    for (const image of [drawLandscape(), narrow]) {
      const jpeg = Buffer.from(encodeJpeg(image));
      assert.equal((await fileTypeFromBuffer(jpeg))?.mime, 'image/jpeg');
      const segments = walkJpeg(jpeg);
      assert.deepEqual([...segments.keys()], [0xe0, 0xdb, 0xc0, 0xc4, 0xda]);
      const frame = segments.get(0xc0);
      assert.deepEqual([frame?.readUInt16BE(3), frame?.readUInt16BE(1)], [image.width, image.height]);
    }
  });
});

/** Follows the segments up to the scan, and checks that no marker but the last hides in the scan. */
function walkJpeg(jpeg: Buffer): Map<number, Buffer> {
  const segments = new Map<number, Buffer>();
  let at = 2;
  while (!segments.has(0xda)) {
    assert.equal(jpeg[at], 0xff);
    const length = jpeg.readUInt16BE(at + 2);
    segments.set(jpeg.readUInt8(at + 1), jpeg.subarray(at + 4, at + 2 + length));
    at += 2 + length;
  }
  for (; at < jpeg.length - 2; at++) if (jpeg[at] === 0xff) assert.equal(jpeg[at + 1], 0);
  assert.equal(jpeg.readUInt16BE(at), 0xffd9);
  return segments;
}

describe('encodeWebp', () => {
  it('is a lossless WebP of the right size, with transparency', async () => {
    const webp = Buffer.from(encodeWebp(drawBadge()));
    assert.equal((await fileTypeFromBuffer(webp))?.mime, 'image/webp');
    assert.equal(webp.toString('latin1', 8, 16), 'WEBPVP8L');
    assert.equal(webp.readUInt32LE(4), webp.length - 8);
    assert.equal(webp[20], 0x2f);
    const header = webp.readUInt32LE(21);
    assert.deepEqual(
      [(header & 0x3fff) + 1, ((header >> 14) & 0x3fff) + 1, (header >> 28) & 1],
      [256, 256, 1],
    );
  });
});

describe('buildPrefixCode', () => {
  it('makes complete codes that are no longer than allowed', () => {
    const fibonacci = [1, 1];
    for (let i = 2; i < 24; i++) fibonacci.push((fibonacci[i - 1] ?? 0) + (fibonacci[i - 2] ?? 0));
    for (const maxLength of [5, 7, 15, 16]) {
      const { lengths, codes } = buildPrefixCode([0, ...fibonacci], maxLength);
      assert.ok(Math.max(...lengths) <= maxLength);
      assert.equal(lengths[0], 0);
      const used = lengths.slice(1);
      assert.equal(
        used.reduce((sum, length) => sum + 2 ** -length, 0),
        1,
      );
      const words = used.map((length, i) => (codes[i + 1] ?? 0).toString(2).padStart(length, '0'));
      assert.ok(words.every((word, i) => words.every((other, j) => i === j || !other.startsWith(word))));
    }
  });
});
