import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { fileTypeFromBuffer } from 'file-type';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { readSampleFile } from '../../../samples/server/files.ts';
import { computeCrc32 } from './crc32.ts';

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

describe('the files of the sample server', () => {
  const TYPES = {
    'badge.webp': 'image/webp',
    'bounce.gif': 'image/gif',
    'jingle.mp3': 'audio/mpeg',
    'landscape.jpg': 'image/jpeg',
  } as const;
  for (const [name, type] of Object.entries(TYPES)) {
    it(`${name} is what its name says`, async () => {
      const bytes = readSampleFile(name as keyof typeof TYPES);
      assert.equal((await fileTypeFromBuffer(bytes))?.mime, type);
    });
  }
});
