import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  detectMediaType,
  isDecidedHere,
  sniffBytes,
  sniffHead,
  sniffMagic,
} from '../../../src/media/sniff.ts';
import { mediaByExtension } from '../../../src/media/table.ts';
import { SAMPLES } from '../content/samples.ts';
import * as sample from '../result/samples.ts';

const latin = (value: string) => Buffer.from(value, 'latin1');

/** Every sample file, with its type. */
const FILES: Readonly<Record<string, readonly [bytes: Uint8Array, extension: string]>> = {
  ...Object.fromEntries(
    Object.entries(SAMPLES).map(([extension, make]) => [`encoded ${extension}`, [make(), extension]]),
  ),
  png: [sample.png(), 'png'],
  jpeg: [sample.jpeg(), 'jpg'],
  gif: [sample.gif(), 'gif'],
  webp: [sample.webp('VP8X', 3, 4), 'webp'],
  bmp: [sample.BMP, 'bmp'],
  ico: [sample.ICO, 'ico'],
  avif: [sample.isoMedia('avif'), 'avif'],
  heic: [sample.isoMedia('heic'), 'heic'],
  m4a: [sample.isoMedia('M4A '), 'm4a'],
  mp4: [sample.isoMedia('isom'), 'mp4'],
  m4v: [sample.isoMedia('M4V '), 'mp4'],
  mov: [sample.isoMedia('qt  '), 'mov'],
  '3gp': [sample.isoMedia('3gp4'), '3gp'],
  mp3: [sample.mp3(), 'mp3'],
  'mp3 with a tag': [Buffer.concat([latin('ID3\x04\0\0\0\0\0\0'), sample.mp3()]), 'mp3'],
  ogg: [sample.ogg('\x01vorbis'), 'ogg'],
  opus: [sample.ogg('OpusHead'), 'opus'],
  ogv: [sample.ogg('\x80theora'), 'ogv'],
  wav: [sample.WAV, 'wav'],
  flac: [sample.FLAC, 'flac'],
  webm: [sample.WEBM, 'webm'],
  '7z': [sample.SEVEN_ZIP, '7z'],
  gz: [sample.GZIP, 'gz'],
  tar: [sample.tar(), 'tar'],
  pdf: [sample.PDF, 'pdf'],
  zip: [sample.zip({ 'a.txt': 'hi' }), 'zip'],
  'an empty zip': [latin(`PK\x05\x06${'\0'.repeat(18)}`), 'zip'],
  svg: [latin('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'svg'],
  html: [latin('<!doctype html><p>'), 'html'],
};

describe('synchronous and asynchronous detection agree', () => {
  for (const [name, [bytes, extension]] of Object.entries(FILES)) {
    it(name, async () => {
      assert.equal(sniffHead(bytes)?.extension, extension);
      assert.equal((await sniffBytes(bytes))?.extension, extension);
      assert.equal((await detectMediaType({ bytes, block: 'file' })).extension, extension);
    });
  }

  it('and a final signature decides, whatever follows', async () => {
    const heads = Object.values(FILES).filter(([bytes]) => sniffMagic(bytes)?.isFinal);
    assert.ok(heads.length > 10);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...heads), fc.uint8Array(), async ([bytes, extension], more) => {
        const longer = Buffer.concat([bytes, more]);
        assert.equal(sniffHead(longer)?.extension, extension);
        assert.equal((await sniffBytes(longer))?.extension, extension);
      }),
    );
  });

  it('on the container, if only its head is there', async () => {
    for (const [head, extension] of [
      [latin('\x89PNG'), 'png'],
      [latin('PK\x03\x04'), 'zip'],
      [latin('OggS'), 'ogg'],
    ] as const) {
      assert.equal(sniffHead(head)?.extension, extension);
      assert.equal((await sniffBytes(head))?.extension, extension);
    }
  });

  it('in random bytes, or the asynchronous one is more specific', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), async (bytes) => {
        const [quick, whole] = [sniffHead(bytes), await sniffBytes(bytes)];
        assert.ok(!quick || whole, `${quick?.extension} is nothing`);
        if (sniffMagic(bytes)?.isFinal) assert.equal(whole, quick);
      }),
    );
  });
});

describe('text that begins like an image is not an image', () => {
  for (const text of ['BMW builds cars.', 'GIFs are fun.', 'SQLite is a database.', 'FORM 12 is missing.']) {
    it(text, async () => {
      assert.equal(sniffHead(latin(text)), undefined);
      assert.equal(await sniffBytes(latin(text)), undefined);
    });
  }
});

it('the name decides between formats in an archive, and nothing else', () => {
  const office = sample.office('spreadsheetml.sheet');
  assert.equal(sniffHead(office, mediaByExtension('xlsx'))?.extension, 'xlsx');
  assert.equal(sniffHead(office, mediaByExtension('pdf'))?.extension, 'zip');
  assert.equal(sniffHead(sample.PDF, mediaByExtension('xlsx'))?.extension, 'pdf');
});

it('the table lists the formats that its signatures decide', () => {
  assert.deepEqual(['jpg', 'pdf', 'zip', 'png', 'mp3', 'docx'].filter(isDecidedHere), ['jpg', 'pdf']);
});
