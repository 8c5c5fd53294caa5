import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeBase64, decodedSizeAtMost } from '../../../src/base/base64.ts';

const bytes = fc.uint8Array({ maxLength: 200 });
const hex = (data: string) => {
  const decoded = decodeBase64(data);
  return decoded.ok ? Buffer.from(decoded.bytes).toString('hex') : decoded.reason;
};

describe('base64 as servers send it', () => {
  const dialects: Record<string, (plain: string) => string> = {
    plain: (plain) => plain,
    'URL-safe': (plain) => plain.replaceAll('+', '-').replaceAll('/', '_'),
    'without padding': (plain) => plain.replaceAll('=', ''),
    'wrapped in lines': (plain) => plain.replace(/.{1,76}/g, '$&\r\n'),
    'as a data: URL': (plain) => `data:image/png;base64,${plain}`,
    'as a data: URL with parameters': (plain) => ` data:text/plain;charset=utf-8;base64,${plain}`,
  };
  for (const [name, write] of Object.entries(dialects)) {
    it(`is decoded exactly: ${name}`, () => {
      fc.assert(
        fc.property(bytes, (original) => {
          const data = write(Buffer.from(original).toString('base64'));
          assert.equal(hex(data), Buffer.from(original).toString('hex'));
          assert.ok(decodedSizeAtMost(data) >= original.length);
        }),
      );
    });
  }

  it('has the type that a data: URL declares', () => {
    assert.deepEqual(decodeBase64('data:image/svg+xml,%3Csvg%2F%3E'), {
      ok: true,
      bytes: new TextEncoder().encode('<svg/>'),
      mimeType: 'image/svg+xml',
    });
  });

  const wrong: Record<string, string> = {
    punctuation: '!!!!',
    'a letter too many': 'QUJDR',
    'padding in the middle': 'QQ==QQ==',
    'too much padding': 'QUJD====',
    'padding that does not fill up': 'QUI==',
    'two alphabets at once': 'ab+_',
    'letters beyond ASCII': 'QUJÄ',
    'a broken data: URL': 'data:text/plain,%E0%A4%A',
  };
  for (const [name, data] of Object.entries(wrong)) {
    it(`is refused: ${name}`, () => assert.equal(decodeBase64(data).ok, false));
  }

  it('is judged in one pass, however long it is', () => {
    const long = 'A'.repeat(40_000_000);
    assert.equal(decodeBase64(`${long}!`).ok, false);
    assert.equal(decodeBase64(long).ok, true);
  });
});
