import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ResourceInput, ResourceShelf, toResourceContents } from '../../../src/content/index.ts';
import { SAMPLES } from './samples.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

describe('the contents of a resource', () => {
  const blob = base64(SAMPLES.png());
  const cases: Record<string, [content: ResourceInput, contents: object, options?: object]> = {
    'text is text': ['hi', { mimeType: 'text/plain', text: 'hi' }],
    'an object is JSON': [{ a: [1] }, { mimeType: 'application/json', text: '{\n  "a": [\n    1\n  ]\n}' }],
    'a Buffer is a blob of the detected type': [Buffer.from(SAMPLES.png()), { mimeType: 'image/png', blob }],
    'a Uint8Array is a blob of the detected type': [SAMPLES.png(), { mimeType: 'image/png', blob }],
    'an ArrayBuffer is a blob of the detected type': [
      new Uint8Array(SAMPLES.png()).buffer,
      { mimeType: 'image/png', blob },
    ],
    'bytes are a blob of the given type': [
      SAMPLES.png(),
      { mimeType: 'image/x', blob },
      { mimeType: 'image/x' },
    ],
    'bytes of a textual type are text if they are UTF-8': [
      Buffer.from('a,b'),
      { mimeType: 'text/csv', text: 'a,b' },
      { uri: 'x://t.csv' },
    ],
    'bytes of a textual type are a blob if they are not UTF-8': [
      Buffer.from([0xff]),
      { mimeType: 'text/csv', blob: '/w==' },
      { uri: 'x://t.csv' },
    ],
    'they may be empty': [Buffer.alloc(0), { mimeType: 'application/octet-stream', blob: '' }],
  };
  for (const [name, [content, contents, options]] of Object.entries(cases)) {
    it(name, () => {
      const given = { uri: 'a:b', ...options };
      assert.deepEqual(toResourceContents(content, given), { uri: given.uri, ...contents });
    });
  }

  it('they may not be too large', () => {
    const options = { uri: 'a:b', maxBytes: 2 };
    assert.throws(() => toResourceContents(Buffer.alloc(3), options), /File too large: 3 bytes/);
  });
});

describe('a resource store', () => {
  it('returns stored resources, and reports missing ones', () => {
    const shelf = new ResourceShelf().add('hi', { uri: 'a:b' }).add(SAMPLES.png(), { uri: 'a:c' });
    assert.deepEqual(shelf.uris(), ['a:b', 'a:c']);
    assert.deepEqual(shelf.read('a:b'), { uri: 'a:b', mimeType: 'text/plain', text: 'hi' });
    assert.throws(() => shelf.read('a:d'), { message: 'Resource not found: a:d' });
  });
});
