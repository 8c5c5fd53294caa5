import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { imageSize } from '../../../src/media/measure.ts';
import { detectMediaType, type MediaClues } from '../../../src/media/sniff.ts';
import { MEDIA_TYPES } from '../../../src/media/table.ts';
import * as sample from '../result/samples.ts';

const text = (value: string) => Buffer.from(value);
const hex = (value: string) => Buffer.from(value.replaceAll(' ', ''), 'hex');
const EXE = hex(`4d5a${'00'.repeat(64)}`);
const UNKNOWN = hex('0001020304050607');
const FAKE_PNG = hex(`89504e470d0a1a0a${'07'.repeat(100)}`);

/** The kind, then the extension. */
async function detect(clues: Partial<MediaClues> & Pick<MediaClues, 'bytes'>): Promise<string> {
  const { kind, extension } = await detectMediaType({ block: 'file', ...clues });
  return `${kind} ${extension}`;
}

const HEAD_BYTES = 4096;
const spilled = (bytes: Buffer) => ({
  path: '/nowhere',
  size: bytes.length,
  head: bytes.subarray(0, HEAD_BYTES),
});

describe('the type of some bytes', () => {
  type Row = [bytes: Buffer, block: MediaClues['block'], declared: string, expected: string, uri?: string];
  const cases: Record<string, Row> = {
    'bytes win over the declared type': [sample.jpeg(), 'image', 'image/png', 'image jpg'],
    'bytes win over the block': [sample.png(), 'audio', 'audio/wav', 'image png'],
    'bytes win over the URI': [sample.png(), 'file', '', 'image png', 'a://b/c.txt'],
    'bytes that only begin like a PNG are a PNG': [FAKE_PNG, 'image', 'image/png', 'image png'],
    'octets are not a claim': [text('a,b'), 'file', 'application/octet-stream', 'file csv', 'x://t.csv'],
    'the declared type wins over the URI': [text('a,b'), 'file', 'text/csv', 'file csv', 'x://t.md'],
    'parameters and case do not matter': [text('x'), 'file', 'Text/Markdown; charset=UTF-8', 'file md'],
    'audio/mpeg is .mp3': [UNKNOWN, 'audio', 'audio/mpeg', 'audio mp3'],
    'audio in a video container is audio, if it is declared so': [
      sample.WEBM,
      'audio',
      'audio/webm',
      'audio weba',
    ],
    'a video is a file': [sample.WEBM, 'file', 'video/webm', 'file webm'],
    'SVG in an image block is an image': [
      text('<?xml version="1.0"?><!-- x --><svg onload="x"/>'),
      'image',
      'image/png',
      'image svg',
    ],
    'SVG that is declared as such is an image': [
      text('<svg onload="x"/>'),
      'file',
      'image/svg+xml; charset=utf-8',
      'image svg',
    ],
    'SVG that is declared as something else is a file': [text('<svg>'), 'file', 'text/plain', 'file svg'],
    'a page that claims to be an image is just bytes': [
      text('<!DOCTYPE html><script>'),
      'image',
      'image/png',
      'file bin',
    ],
    'a page that is declared as one is a page': [text('<html><body>'), 'file', 'text/html', 'file html'],
    'a program that claims to be an image is just bytes': [EXE, 'image', 'image/png', 'file bin'],
    'an image of an unknown type is .png': [UNKNOWN, 'image', 'image/x-new', 'image png'],
    'an image without a type is .png': [UNKNOWN, 'image', '', 'image png'],
    'a path in the type is not a type': [UNKNOWN, 'image', 'image/../../x', 'file bin'],
    'an endless type is not a type': [UNKNOWN, 'image', `image/${'x'.repeat(1e6)}`, 'file bin'],
    'an unknown file is .bin': [UNKNOWN, 'file', '', 'file bin', 'x://a.exe'],
    'an empty file is .bin': [Buffer.alloc(0), 'file', '', 'file bin'],
    'TIFF, which no preview shows, is a file': [UNKNOWN, 'image', 'image/tiff', 'file tif'],
  };
  for (const [name, [bytes, block, declared, expected, uri]] of Object.entries(cases)) {
    it(name, async () => {
      assert.equal(await detect({ bytes, block, declared: declared || undefined, uri }), expected);
    });
  }

  it('is always one of the table', async () => {
    const known = new Set([...MEDIA_TYPES.map(({ extension }) => extension), 'bin']);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.string(), fc.string(), async (bytes, declared, uri) => {
        assert.ok(known.has((await detectMediaType({ bytes, declared, uri, block: 'file' })).extension));
      }),
    );
  });
});

it('the table has each extension and each type once', () => {
  const names = MEDIA_TYPES.flatMap(({ extension, aliases, types }) => [extension, ...aliases, ...types]);
  assert.equal(new Set(names).size, names.length);
});

describe('real bytes', () => {
  const cases: readonly (readonly [Buffer, Partial<MediaClues>, expected: string])[] = [
    [sample.jpeg(), { declared: 'image/png', block: 'image' }, 'image jpg'],
    [sample.png(), { declared: 'application/octet-stream' }, 'image png'],
    [sample.gif(), {}, 'image gif'],
    [sample.webp('VP8L', 1, 1), { declared: 'image/png', block: 'image' }, 'image webp'],
    [sample.isoMedia('avif'), {}, 'image avif'],
    [sample.ICO, {}, 'image ico'],
    [sample.BMP, { declared: 'image/png', block: 'image' }, 'image bmp'],
    [text('<svg xmlns="x"/>'), { declared: 'image/svg+xml', block: 'image' }, 'image svg'],
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
  for (const [bytes, clues, expected] of cases) {
    it(`${expected}, declared ${clues.declared ?? 'as nothing'}`, async () => {
      for (const each of [bytes, spilled(bytes)])
        assert.equal(await detect({ ...clues, bytes: each }), expected);
    });
  }

  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  const claims: readonly (readonly [clues: Partial<MediaClues>, extension: string])[] = [
    [{ declared: type }, 'xlsx'],
    [{ uri: 'x://book.xlsx' }, 'xlsx'],
    [{ declared: 'application/pdf', uri: 'x://book.xlsx' }, 'xlsx'],
    [{ declared: 'image/png' }, 'zip'],
    [{}, 'zip'],
  ];
  for (const [clues, extension] of claims) {
    it(`of a spilled workbook without its type in the head are ${extension} for ${JSON.stringify(clues)}`, async () => {
      const bytes = spilled(sample.office('spreadsheetml.sheet', 10_000));
      assert.equal(await detect({ bytes, ...clues }), `file ${extension}`);
    });
  }
});

describe('an image that must not be shown is a file', () => {
  const whole = sample.png(3, 4, Buffer.alloc(9000, 1));
  const cut = whole.subarray(0, whole.length - 40);
  const trailing = Buffer.concat([whole, Buffer.alloc(9000)]);
  const cases: Record<string, [clues: Omit<MediaClues, 'block'>, expected: string]> = {
    'a whole PNG is shown': [{ bytes: whole }, 'image png'],
    'also with trailing data': [{ bytes: trailing }, 'image png'],
    'a truncated PNG is not': [{ bytes: cut }, 'file png'],
    'not even the mere head of a PNG': [{ bytes: whole.subarray(0, 40) }, 'file png'],
    'a spilled PNG with its end is shown': [
      { bytes: spilled(whole), tail: whole.subarray(-100) },
      'image png',
    ],
    'also with trailing data that hides it': [
      { bytes: spilled(Buffer.concat([sample.png(3, 4), Buffer.alloc(9000)])), tail: Buffer.alloc(100) },
      'image png',
    ],
    'a spilled PNG that is cut is not': [{ bytes: spilled(cut), tail: cut.subarray(-100) }, 'file png'],
    'a giant PNG is not': [{ bytes: sample.png(50_000, 50_000) }, 'file png'],
    'a giant JPEG is not': [{ bytes: sample.jpeg(60_000, 60_000) }, 'file jpg'],
    'a giant GIF is not': [{ bytes: sample.gif(60_000, 60_000) }, 'file gif'],
    'a giant WebP is not': [{ bytes: sample.webp('VP8X', 16_000, 16_000) }, 'file webp'],
    'a large photograph is': [{ bytes: sample.jpeg(9000, 6000) }, 'image jpg'],
    'unknown bytes that are declared as PNG are': [
      { bytes: text('\u0001\u0002\u0003'), declared: 'image/png' },
      'image png',
    ],
  };
  for (const [name, [clues, expected]] of Object.entries(cases)) {
    it(name, async () => assert.equal(await detect({ block: 'image', ...clues }), expected));
  }
});

describe('the size of an image', () => {
  const images: Record<string, Buffer> = {
    PNG: sample.png(300, 200),
    JPEG: sample.jpeg(300, 200),
    GIF: sample.gif(300, 200),
    'WebP, simple': sample.webp('VP8 ', 300, 200),
    'WebP, lossless': sample.webp('VP8L', 300, 200),
    'WebP, extended': sample.webp('VP8X', 300, 200),
  };
  for (const [name, bytes] of Object.entries(images)) {
    it(`is read from ${name}, and a truncated head does no harm`, () => {
      assert.deepEqual(imageSize(bytes), { width: 300, height: 200 });
      for (let length = 0; length < bytes.length; length += 1) imageSize(bytes.subarray(0, length));
    });
  }

  it('is unknown for other bytes', () => assert.equal(imageSize(text('not an image at all')), undefined));

  it('is unknown for an image with a million properties', () => {
    const box = (type: string, ...content: readonly Buffer[]) => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(8 + Buffer.concat(content).length);
      head.write(type, 4, 'latin1');
      return Buffer.concat([head, ...content]);
    };
    const properties = box('ipma', hex('00000000 000f4240'), Buffer.alloc(3_000_000));
    const image = [box('ftyp', text('avif\0\0\0\0')), box('meta', Buffer.alloc(4), box('iprp', properties))];
    assert.equal(imageSize(Buffer.concat(image)), undefined);
  });

  it('of any bytes with the head of an image does not throw', () => {
    const heads = [...Object.values(images), sample.isoMedia('avif'), sample.isoMedia('heic')];
    fc.assert(
      fc.property(
        fc.constantFrom(...heads),
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(64),
        (head, more, at) => {
          imageSize(Buffer.concat([head.subarray(0, at), more]));
        },
      ),
    );
  });
});
