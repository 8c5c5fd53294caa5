import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageSize } from '../../../src/media/measure.ts';
import { detectMediaType, type MediaClues } from '../../../src/media/sniff.ts';
import * as sample from './samples.ts';

const text = (value: string) => Buffer.from(value);
const HEAD_BYTES = 4096;
const spilled = (bytes: Buffer) => ({
  path: '/nowhere',
  size: bytes.length,
  head: bytes.subarray(0, HEAD_BYTES),
});
const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** Real bytes, what they claim, and what they must become: the kind, then the extension. */
const CASES: readonly (readonly [Buffer, Partial<MediaClues>, string])[] = [
  [sample.jpeg(), { declared: 'image/png', block: 'image' }, 'image jpg'],
  [sample.png(), { declared: 'application/octet-stream' }, 'image png'],
  [sample.gif(), {}, 'image gif'],
  [sample.webp('VP8L', 1, 1), { declared: 'image/png', block: 'image' }, 'image webp'],
  [sample.isoMedia('avif'), {}, 'image avif'],
  [sample.ICO, {}, 'image ico'],
  [sample.BMP, { declared: 'image/png', block: 'image' }, 'image bmp'],
  [
    text('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    { declared: 'image/svg+xml', block: 'image' },
    'file svg',
  ],
  [sample.mp3(), { declared: 'application/octet-stream' }, 'audio mp3'],
  [Buffer.concat([text('ID3\u0004\0\0\0\0\0\0'), sample.mp3()]), {}, 'audio mp3'],
  [sample.ogg('\u0001vorbis'), {}, 'audio ogg'],
  [sample.ogg('OpusHead'), { declared: 'audio/ogg', block: 'audio' }, 'audio opus'],
  [sample.isoMedia('M4A '), {}, 'audio m4a'],
  [sample.isoMedia('isom'), { declared: 'audio/mp4', block: 'audio' }, 'audio m4a'],
  [sample.WAV, { declared: 'audio/x-wav', block: 'audio' }, 'audio wav'],
  [sample.FLAC, {}, 'audio flac'],
  [sample.WEBM, { declared: 'audio/webm', block: 'audio' }, 'audio weba'],
  [sample.isoMedia('isom'), {}, 'file mp4'],
  [sample.isoMedia('M4V '), {}, 'file mp4'],
  [sample.WEBM, {}, 'file webm'],
  [sample.SEVEN_ZIP, {}, 'file 7z'],
  [sample.GZIP, { uri: 'x://a.tar.gz' }, 'file gz'],
  [sample.tar(), {}, 'file tar'],
  [sample.PDF, { declared: 'text/plain' }, 'file pdf'],
  [sample.zip({ 'a.txt': 'hi' }), {}, 'file zip'],
  [sample.zip({ 'a.txt': 'hi' }), { uri: 'x://a.pdf' }, 'file zip'],
  [sample.office('spreadsheetml.sheet'), { declared: 'application/zip' }, 'file xlsx'],
  [sample.office('wordprocessingml.document'), {}, 'file docx'],
  [sample.OLE, { declared: 'application/vnd.ms-excel' }, 'file xls'],
  [sample.OLE, {}, 'file bin'],
  [text('a,b\n1,2\n'), { declared: 'text/csv' }, 'file csv'],
  [text('a,b\n1,2\n'), { uri: 'x://t/data.csv' }, 'file csv'],
];

describe('real bytes', () => {
  for (const [bytes, clues, expected] of CASES) {
    it(`${expected}, declared ${clues.declared ?? 'as nothing'}`, async () => {
      for (const each of [bytes, spilled(bytes)]) {
        const judged = await detectMediaType({ block: 'file', ...clues, bytes: each });
        assert.equal(`${judged.kind} ${judged.extension}`, expected);
      }
    });
  }

  it('of a spilled workbook whose kind stands far behind the head, the claim decides', async () => {
    const bytes = spilled(sample.office('spreadsheetml.sheet', 10_000));
    const judge = async (clues: object) =>
      (await detectMediaType({ block: 'file', bytes, ...clues })).extension;
    assert.equal(await judge({ declared: type }), 'xlsx');
    assert.equal(await judge({ uri: 'x://book.xlsx' }), 'xlsx');
    assert.equal(await judge({ declared: 'application/pdf', uri: 'x://book.xlsx' }), 'xlsx');
    assert.equal(await judge({ declared: 'image/png' }), 'zip');
    assert.equal(await judge({}), 'zip');
  });
});

describe('an image that must not be shown is a file', () => {
  const whole = sample.png(3, 4, Buffer.alloc(9000, 1));
  const cut = whole.subarray(0, whole.length - 40);
  const cases: Readonly<Record<string, [clues: Omit<MediaClues, 'block'>, expected: string]>> = {
    'a whole PNG is shown': [{ bytes: whole }, 'image png'],
    'also with something behind its end': [
      { bytes: Buffer.concat([whole, Buffer.alloc(9000)]) },
      'image png',
    ],
    'a truncated PNG is not': [{ bytes: cut }, 'file png'],
    'not even when nothing is left but its head': [{ bytes: whole.subarray(0, 40) }, 'file png'],
    'a spilled PNG that ends well is shown': [
      { bytes: spilled(whole), tail: whole.subarray(-100) },
      'image png',
    ],
    'a spilled PNG that is cut is not': [{ bytes: spilled(cut), tail: cut.subarray(-100) }, 'file png'],
    'a giant PNG is not': [{ bytes: sample.png(50_000, 50_000) }, 'file png'],
    'a giant JPEG is not': [{ bytes: sample.jpeg(60_000, 60_000) }, 'file jpg'],
    'a giant GIF is not': [{ bytes: sample.gif(60_000, 60_000) }, 'file gif'],
    'a giant WebP is not': [{ bytes: sample.webp('VP8X', 16_000, 16_000) }, 'file webp'],
    'a large photograph is': [{ bytes: sample.jpeg(9000, 6000) }, 'image jpg'],
    'bytes declared PNG that nobody recognises are as before': [
      { bytes: text('\u0001\u0002\u0003'), declared: 'image/png' },
      'image png',
    ],
  };
  for (const [name, [clues, expected]] of Object.entries(cases)) {
    it(name, async () => {
      const judged = await detectMediaType({ block: 'image', ...clues });
      assert.equal(`${judged.kind} ${judged.extension}`, expected);
    });
  }
});

describe('the size of an image', () => {
  const pictures: Readonly<Record<string, Buffer>> = {
    PNG: sample.png(300, 200),
    JPEG: sample.jpeg(300, 200),
    GIF: sample.gif(300, 200),
    'WebP, simple': sample.webp('VP8 ', 300, 200),
    'WebP, lossless': sample.webp('VP8L', 300, 200),
    'WebP, extended': sample.webp('VP8X', 300, 200),
  };
  for (const [name, bytes] of Object.entries(pictures)) {
    it(`is read from ${name}, and a head that is cut does no harm`, () => {
      assert.deepEqual(imageSize(bytes), { width: 300, height: 200 });
      for (let length = 0; length < bytes.length; length += 1) imageSize(bytes.subarray(0, length));
    });
  }

  it('is not made up', () => assert.equal(imageSize(text('no picture at all')), undefined));
});
