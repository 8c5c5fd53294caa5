import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResourceShelf, toResourceContents } from '../../../src/content/index.ts';
import { SAMPLES } from './samples.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

describe('the contents of a resource', () => {
  it('text is text', () => {
    assert.deepEqual(toResourceContents('hi', { uri: 'a:b' }), {
      uri: 'a:b',
      mimeType: 'text/plain',
      text: 'hi',
    });
  });

  it('an object is JSON', () => {
    assert.deepEqual(toResourceContents({ a: [1] }, { uri: 'a:b' }), {
      uri: 'a:b',
      mimeType: 'application/json',
      text: '{\n  "a": [\n    1\n  ]\n}',
    });
  });

  it('bytes are a blob, of the type that is said or found', () => {
    const blob = base64(SAMPLES.png());
    for (const bytes of [Buffer.from(SAMPLES.png()), SAMPLES.png(), new Uint8Array(SAMPLES.png()).buffer])
      assert.deepEqual(toResourceContents(bytes, { uri: 'a:b' }), {
        uri: 'a:b',
        mimeType: 'image/png',
        blob,
      });
    assert.deepEqual(toResourceContents(SAMPLES.png(), { uri: 'a:b', mimeType: 'image/x' }), {
      uri: 'a:b',
      mimeType: 'image/x',
      blob,
    });
  });

  it('bytes of a textual type are text, if they are UTF-8', () => {
    assert.deepEqual(toResourceContents(Buffer.from('a,b'), { uri: 'x://t.csv' }), {
      uri: 'x://t.csv',
      mimeType: 'text/csv',
      text: 'a,b',
    });
    assert.ok('blob' in toResourceContents(Buffer.from([0xff]), { uri: 'x://t.csv' }));
  });

  it('may be empty, and may not be too large', () => {
    assert.deepEqual(toResourceContents(Buffer.alloc(0), { uri: 'a:b' }), {
      uri: 'a:b',
      mimeType: 'application/octet-stream',
      blob: '',
    });
    assert.throws(
      () => toResourceContents(Buffer.alloc(3), { uri: 'a:b', maxBytes: 2 }),
      /File too large: 3 bytes/,
    );
  });
});

describe('a shelf of resources', () => {
  it('gives what was put there, and says what it does not have', () => {
    const shelf = new ResourceShelf().add('hi', { uri: 'a:b' }).add(SAMPLES.png(), { uri: 'a:c' });
    assert.deepEqual(shelf.uris(), ['a:b', 'a:c']);
    assert.deepEqual(shelf.read('a:b'), { uri: 'a:b', mimeType: 'text/plain', text: 'hi' });
    assert.throws(() => shelf.read('a:d'), { message: 'Resource not found: a:d' });
  });
});
