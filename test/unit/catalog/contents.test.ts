import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { type ContentsRequest, readContents } from '../../../src/catalog/contents.ts';
import { makeBmp, makePdf } from '../../kit/documents.ts';
import { PNG_BASE64 } from '../../kit/png.ts';
import { assetNumbered, useTree } from './tree.ts';

const tree = useTree();
const PNG = Buffer.from(PNG_BASE64, 'base64');
/** Cut within its first chunk, so that it cannot be scaled. */
const LARGE_PNG = Buffer.concat([PNG.subarray(0, 40), Buffer.alloc(530)]);
const FILES: Readonly<Record<string, string | Uint8Array>> = {
  png: PNG,
  wav: Buffer.from(
    'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0',
    'latin1',
  ),
  svg: '<svg xmlns="http://www.w3.org/2000/svg"/>',
  tiff: Buffer.from('II*\0\x08\0\0\0\0\0\0\0\0\0', 'latin1'),
  pdf: makePdf('One', 'Two'),
  cut: '%PDF-1.7\n',
  html: '<h1>Hi</h1>',
  ipynb: '{"cells": [',
  txt: 'Hello',
  latin1: Buffer.from('Größe', 'latin1'),
  utf16: Buffer.from('\ufeffGröße', 'utf16le'),
  noise: Buffer.from('\x01\xff', 'latin1'),
  large: LARGE_PNG,
  padded: Buffer.concat([PNG, Buffer.alloc(500)]),
  bmp: makeBmp(2, 2),
  fake: 'only its name says that it is a PNG',
  empty: '',
};
const PNG_NAMES = { large: 'png', padded: 'png', fake: 'png', empty: 'png' };
const CSV_NAMES = { latin1: 'csv', utf16: 'csv', noise: 'csv' };
const EXTENSIONS: Readonly<Record<string, string>> = { tiff: 'tif', cut: 'pdf', ...PNG_NAMES, ...CSV_NAMES };
const LIMITS = { defaultBytes: 100, maxMediaBytes: 300 };

async function read(file: string, request: Partial<ContentsRequest>) {
  const asset = assetNumbered(1, EXTENSIONS[file] ?? file, file === 'wav' ? 'audio' : 'file');
  tree.write(`cmdassets/${asset}`, FILES[file]);
  const catalog = new Catalog({ folders: [tree.path] });
  const found = await catalog.find({ kind: 'asset', chat: 'cmdassets', asset });
  return readContents(found, { maxBytes: LIMITS.defaultBytes, ...request }, LIMITS);
}

/** What comes: its kind, and how many bytes. */
const RETURNED: readonly [file: string, request: Partial<ContentsRequest>, expected: string][] = [
  ['png', {}, `image ${PNG.length}`],
  ['png', { start: 0, maxBytes: 100, as: 'auto' }, `image ${PNG.length}`],
  ['png', { maxBytes: 299 }, `image ${PNG.length}`],
  ['png', { maxBytes: 8 }, 'bytes 8'],
  ['png', { start: 8 }, `bytes ${PNG.length - 8}`],
  ['png', { as: 'image', start: 8, maxBytes: 8 }, `image ${PNG.length}`],
  ['png', { as: 'resource' }, `bytes ${PNG.length}`],
  ['png', { as: 'bytes' }, `bytes ${PNG.length}`],
  ['wav', {}, 'audio 36'],
  ['wav', { as: 'audio' }, 'audio 36'],
  ['svg', {}, 'text 41'],
  ['svg', { as: 'image' }, 'image 41'],
  ['tiff', {}, 'bytes 14'],
  ['tiff', { as: 'image' }, 'image 14'],
  ['pdf', {}, `text ${'## Page 1\n\nOne\n\n## Page 2\n\nTwo'.length}`],
  ['pdf', { as: 'text', pages: '2' }, `text ${'## Page 2\n\nTwo'.length}`],
  ['pdf', { start: 11, maxBytes: 3 }, 'text 3'],
  ['pdf', { as: 'resource' }, 'bytes 100'],
  ['html', {}, 'text 4'],
  ['html', { as: 'text' }, 'text 11'],
  ['ipynb', {}, 'text 11'],
  ['padded', {}, 'image 570'],
  ['padded', { as: 'image' }, 'image 570'],
  ['padded', { start: 0 }, 'bytes 100'],
  ['bmp', {}, 'image 70'],
  ['fake', {}, 'bytes 35'],
  ['empty', {}, 'bytes 0'],
  ['txt', {}, 'text 5'],
  ['txt', { as: 'text', start: 1 }, 'text 4'],
  ['txt', { as: 'resource' }, 'text 5'],
  ['txt', { as: 'bytes' }, 'bytes 5'],
  ['latin1', {}, `text ${Buffer.byteLength('Größe')}`],
  ['latin1', { as: 'text', start: 2 }, `text ${Buffer.byteLength('öße')}`],
  ['latin1', { as: 'bytes' }, 'bytes 5'],
  ['utf16', {}, `text ${Buffer.byteLength('Größe')}`],
  ['noise', { as: 'bytes' }, 'bytes 2'],
  ['large', {}, 'none 0'],
  ['large', { start: 0 }, 'bytes 100'],
  ['large', { as: 'bytes' }, 'bytes 100'],
];

const REFUSED: readonly [file: string, request: Partial<ContentsRequest>, words: RegExp][] = [
  ['pdf', { as: 'image' }, /is application\/pdf, not an image\. Read it with as: "auto"/],
  ['png', { as: 'audio' }, /is image\/png, not audio/],
  ['txt', { as: 'image' }, /is text\/plain, not an image/],
  ['fake', { as: 'image' }, /is not an image: its bytes have no such format\. Read it with as: "bytes"/],
  ['empty', { as: 'image' }, /is not an image/],
  ['png', { as: 'text' }, /This is image\/png, not UTF-8 text/],
  ['large', { as: 'image' }, /more than the 300 bytes that can be returned as an image.*as: "bytes"/],
  ['cut', {}, /The text of .* cannot be read: it is damaged \(.*\)\. To read its bytes, use as: "bytes"\.$/],
  ['pdf', { pages: '3' }, /has 2 pages, but none of them matches/],
  ['pdf', { pages: 'last' }, /“last” is not a list of pages/],
  ['html', { pages: '1' }, /has no pages/],
  ['txt', { pages: '1' }, /has no pages/],
  ['png', { start: 1000 }, /There is nothing at byte 1000/],
];

describe('the contents of a file', () => {
  for (const [file, request, expected] of RETURNED) {
    it(`${file} with ${JSON.stringify(request)} is ${expected}`, async () => {
      const { body, byteCount } = await read(file, request);
      assert.equal(`${body.kind} ${byteCount}`, expected);
      if (body.kind !== 'image') return;
      const bytes = body.images.map((image) => Buffer.from(image.bytes));
      if (file === 'png') assert.deepEqual(bytes, [PNG]);
      for (const image of bytes) assert.ok(image.length <= LIMITS.maxMediaBytes);
    });
  }
  for (const [file, request, words] of REFUSED) {
    it(`${file} with ${JSON.stringify(request)} is refused`, () =>
      assert.rejects(read(file, request), words));
  }

  it('a client that follows nextStart reads all of an image that is too large', async () => {
    const pieces: Uint8Array[] = [];
    for (let start = (await read('large', {})).nextStart; start !== undefined; ) {
      const { body, nextStart } = await read('large', { start });
      if (body.kind === 'bytes') pieces.push(body.bytes);
      start = nextStart;
    }
    assert.deepEqual(Buffer.concat(pieces), LARGE_PNG);
  });
});
