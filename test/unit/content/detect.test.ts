import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as content from '../../../src/content/index.ts';
import { SAMPLES } from './samples.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const FILE = { type: 'file', path: 'chart.png' } as const;

it('the kind of content follows from the hint, the bytes, or the name', () => {
  const cases: readonly (readonly [input: content.ContentInput, type: content.ContentType])[] = [
    [SAMPLES.png(), 'image'],
    [SAMPLES.mp3(), 'audio'],
    [SAMPLES.pdf(), 'binary'],
    [base64(SAMPLES.png()), 'image'],
    ['./chart.png', 'image'],
    ['Hello, world!', 'text'],
    [FILE, 'image'],
    [{ ...FILE, mimeType: 'application/pdf' }, 'binary'],
    [{ type: 'audio', data: SAMPLES.png() }, 'audio'],
  ];
  for (const [input, type] of cases) assert.equal(content.detectContentType(input), type, String(input));
});

it('types are found by extension or by magic bytes alone', () => {
  for (const name of ['a/b.PNG', '.png', 'png'])
    assert.equal(content.detectMimeTypeFromExtension(name), 'image/png');
  assert.equal(content.getMimeTypeFromExtension('.xyz'), 'application/octet-stream');
  assert.equal(content.detectMimeTypeFromMagicBytes(SAMPLES.pdf()), 'application/pdf');
  assert.equal(content.detectMimeTypeFromMagicBytes(Buffer.from([1, 2, 3])), null);
});

it('the table of types has every extension of an image, and one entry for the rest', () => {
  const { MIME_TYPES, getFileExtension } = content;
  assert.equal(MIME_TYPES[getFileExtension('photos/Cat.JPEG')], 'image/jpeg');
  assert.equal(MIME_TYPES['.avi'], 'video/x-msvideo');
  assert.equal(MIME_TYPES['*'], 'application/octet-stream');
  assert.equal(getFileExtension('no-extension'), '');
});

describe('allowedTypes', () => {
  const { validateFileType } = content;
  const allowedTypes = ['image/*', 'text/csv'];
  const uri = 'x://a';

  it('are types, groups or synonyms, and by default all', () => {
    assert.equal(validateFileType('application/zip'), true);
    assert.equal(validateFileType('application/zip', []), false);
    assert.equal(validateFileType('image/png', allowedTypes), true);
    // The usual name and the older one are the same type.
    assert.equal(validateFileType('video/vnd.avi', ['video/x-msvideo']), true);
  });

  const refused: Readonly<Record<string, [type: string, work: () => unknown]>> = {
    bytes: ['application/pdf', () => content.toBinaryContent(SAMPLES.pdf(), { allowedTypes })],
    'bytes with a type that is not theirs': [
      'application/pdf',
      () => content.toImageContent(SAMPLES.pdf(), { mimeType: 'image/png', allowedTypes }),
    ],
    base64: ['application/zip', () => content.toBinaryContent(base64(SAMPLES.zip()), { allowedTypes })],
    'bytes of no known type': [
      'application/octet-stream',
      () => content.toBinaryContent(Buffer.from([1]), { allowedTypes }),
    ],
    'a file': ['text/markdown', () => content.toBinaryContent('README.md', { allowedTypes })],
    'a file as base64': ['text/markdown', () => content.fileToBase64('README.md', '.', { allowedTypes })],
    'an embedded text': [
      'text/html',
      () => content.toEmbeddedResource('<b>', { uri, mimeType: 'text/html', allowedTypes }),
    ],
    'a resource': [
      'application/pdf',
      async () => content.toResourceContents(SAMPLES.pdf(), { uri, mimeType: 'image/png', allowedTypes }),
    ],
    'one item of a list': [
      'application/zip',
      () => content.normalizeResult(['text', SAMPLES.png(), SAMPLES.zip()], { allowedTypes }),
    ],
  };
  for (const [name, [type, work]] of Object.entries(refused)) {
    it(`refuse ${name}`, () =>
      assert.rejects(async () => work(), {
        message: `File type not allowed: ${type} (allowed: image/*, text/csv). Convert the file, or add its type to allowedTypes.`,
      }));
  }

  it('let through what they list, own types included, and text', async () => {
    const mixed = await content.normalizeResult(['words', SAMPLES.png()], { allowedTypes });
    assert.deepEqual(
      mixed.content.map(({ type }) => type),
      ['text', 'image'],
    );
    await content.toEmbeddedResource('a,b', { uri, mimeType: 'text/csv', allowedTypes });
    const own = { mimeType: 'application/x-own', allowedTypes: ['application/x-own'] };
    assert.equal(
      (await content.toBinaryContent(Buffer.from([1]), own)).resource.mimeType,
      'application/x-own',
    );
  });
});
