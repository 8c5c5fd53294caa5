import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { detectMimeType, isValidMimeType } from '../../../src/content/index.ts';
import { detectMediaType } from '../../../src/media/sniff.ts';
import * as sample from '../result/samples.ts';
import { SAMPLES } from './samples.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const UNSIGNED = Buffer.from([1, 2, 3]);

describe('the detected type', () => {
  const cases: Readonly<Record<string, [Parameters<typeof detectMimeType>, string]>> = {
    'the given type wins over the bytes': [[SAMPLES.png(), 'a.gif', 'image/jpeg'], 'image/jpeg'],
    'also an unknown type': [[SAMPLES.png(), undefined, 'image/xyz'], 'image/xyz'],
    'the bytes win over the name': [[SAMPLES.png(), 'a.gif'], 'image/png'],
    'the name decides for bytes without a signature': [[UNSIGNED, 'a/b/chart.PNG'], 'image/png'],
    'octets for unknown bytes and an unknown name': [[UNSIGNED, 'a.xyz'], 'application/octet-stream'],
    'a PNG by four bytes': [[Buffer.from([0x89, 0x50, 0x4e, 0x47])], 'image/png'],
    'an ArrayBuffer': [[new Uint8Array(SAMPLES.gif()).buffer], 'image/gif'],
    'base64 by its bytes': [[base64(SAMPLES.jpg())], 'image/jpeg'],
    'a data: URL by its own type': [[`data:image/webp;base64,${base64(SAMPLES.jpg())}`], 'image/webp'],
    'a data: URL without a type by its bytes': [[`data:;base64,${base64(SAMPLES.jpg())}`], 'image/jpeg'],
    'text that only begins like a data: URL': [['data: 3 items, and more'], 'application/octet-stream'],
    'a path by its extension': [['./images/chart.png'], 'image/png'],
    'any other string': [['hello there'], 'application/octet-stream'],
    'a workbook by its name, within an archive': [
      [sample.office('spreadsheetml.sheet'), 'a.xlsx'],
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
    'an archive with the name of an image': [[SAMPLES.zip(), 'a.png'], 'application/zip'],
    SVG: [[Buffer.from('<svg xmlns="x"/>')], 'image/svg+xml'],
  };
  for (const [name, [given, type]] of Object.entries(cases)) {
    it(name, () => assert.equal(detectMimeType(...given), type));
  }

  /** Types by extension alone. */
  const extensions: Readonly<Record<string, string>> = {
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    svg: 'image/svg+xml',
    bmp: 'image/bmp',
    ico: 'image/x-icon',
    pdf: 'application/pdf',
    doc: 'application/msword',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xls: 'application/vnd.ms-excel',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    zip: 'application/zip',
    tar: 'application/x-tar',
    gz: 'application/gzip',
    '7z': 'application/x-7z-compressed',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    ogg: 'audio/ogg',
    m4a: 'audio/mp4',
    mp4: 'video/mp4',
    webm: 'video/webm',
    avi: 'video/x-msvideo',
  };
  for (const [extension, type] of Object.entries(extensions)) {
    it(`.${extension}`, () => assert.equal(detectMimeType(UNSIGNED, `x.${extension}`), type));
  }

  it('is the one that the client detects in the same bytes', async () => {
    for (const make of Object.values(SAMPLES)) {
      const { types } = await detectMediaType({ bytes: make(), block: 'file' });
      assert.equal(detectMimeType(make()), types[0]);
      assert.equal(detectMimeType(base64(make())), types[0]);
    }
  });

  it('is always a string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string()), fc.string(), (input, name) => {
        assert.equal(typeof detectMimeType(input, name), 'string');
      }),
    );
  });
});

it('a valid type has the form of one', () => {
  for (const type of ['image/png', 'IMAGE/PNG', 'text/plain; charset=utf-8', 'application/vnd.a.b+json'])
    assert.equal(isValidMimeType(type), true, type);
  for (const type of ['', 'png', 'image/', '/png', 'image/p ng', 'image/../x', 'image/png\nx'])
    assert.equal(isValidMimeType(type), false, type);
});
