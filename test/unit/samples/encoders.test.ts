import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32, inflateSync } from 'node:zlib';
import { fileTypeFromBuffer } from 'file-type';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodePdf, quotePdf } from '../../../samples/server/encode/pdf.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { encodeWav } from '../../../samples/server/encode/wav.ts';
import { readSampleFile } from '../../../samples/server/files.ts';
import { renderMelody } from '../../../samples/server/melody.ts';
import { writeReport } from '../../../samples/server/report.ts';

async function checkType(bytes: Uint8Array, type: string): Promise<void> {
  assert.equal((await fileTypeFromBuffer(bytes))?.mime, type);
}

it('encodePng keeps every pixel, in chunks with valid checksums', async () => {
  const chart = drawChart({ title: 'Rain', values: [3, -1, 4], labels: ['a', 'b'], style: 'line' });
  const png = Buffer.from(encodePng(chart));
  await checkType(png, 'image/png');
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const body = png.subarray(at + 4, at + 8 + length);
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(body));
    chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4) });
    at += 12 + length;
  }
  assert.equal(chunks.map(({ type }) => type).join(), 'IHDR,IDAT,IEND');
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

for (const [name, type] of [
  ['badge.webp', 'image/webp'],
  ['bounce.gif', 'image/gif'],
  ['jingle.mp3', 'audio/mpeg'],
  ['landscape.jpg', 'image/jpeg'],
] as const) {
  it(`the sample file ${name} has the type of its name`, () => checkType(readSampleFile(name), type));
}

describe('encodePdf', () => {
  it('has a table with the offset of each object', async () => {
    for (const bytes of [writeReport(), encodePdf({ title: 'É (1)', drawing: 'BT (é) Tj ET' })]) {
      const pdf = Buffer.from(bytes).toString('latin1');
      await checkType(bytes, 'application/pdf');
      const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
      const [, count, rows = ''] =
        /^xref\n0 (\d+)\n((?:\d{10} \d{5} [nf] \n)+)trailer/.exec(pdf.slice(start)) ?? [];
      const entries = rows.match(/.{19}\n/g) ?? [];
      assert.equal(entries.length, Number(count));
      for (const [number, entry] of entries.entries()) {
        if (number > 0) assert.ok(pdf.startsWith(`${number} 0 obj\n`, Number(entry.slice(0, 10))));
      }
    }
  });

  it('has the length of its drawing', () => {
    const pdf = Buffer.from(writeReport()).toString('latin1');
    const [, length, drawing] = /<< \/Length (\d+) >>\nstream\n(.*?)\nendstream/s.exec(pdf) ?? [];
    assert.equal(drawing?.length, Number(length));
  });

  it('escapes brackets in text', () => {
    assert.equal(quotePdf('a (b) \\'), '(a \\(b\\) \\\\)');
  });
});

describe('encodeWav', () => {
  it('has its own size and all samples', async () => {
    const notes = [440, 330].map((hertz) => ({ hertz, seconds: 0.5 }));
    const sound = renderMelody(notes, 8000);
    const wav = Buffer.from(encodeWav(sound));
    await checkType(wav, 'audio/wav');
    assert.equal(wav.readUInt32LE(4), wav.length - 8);
    assert.equal(wav.readUInt32LE(24), 8000);
    assert.equal(wav.readUInt32LE(40), 8000 * 2);
    for (const [i, sample] of sound.samples.entries()) {
      assert.ok(Math.abs(wav.readInt16LE(44 + i * 2) / 32767 - sample) < 1 / 32767);
    }
  });

  it('clips samples that are too loud', () => {
    const wav = Buffer.from(encodeWav({ samples: Float64Array.of(-3, 3), sampleRate: 8000 }));
    assert.deepEqual([wav.readInt16LE(44), wav.readInt16LE(46)], [-32767, 32767]);
  });
});
