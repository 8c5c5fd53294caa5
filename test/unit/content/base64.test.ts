import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { isCanonical } from '../../../src/content/bytes.ts';
import { base64ToBuffer, bufferToBase64, validateBase64 } from '../../../src/content/index.ts';
import { BASE64_FORMS } from './samples.ts';

describe('base64', () => {
  for (const [name, write] of Object.entries(BASE64_FORMS)) {
    it(`${name} is decoded to the same bytes`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
          assert.equal(validateBase64(write(bytes)), true);
          assert.deepEqual(base64ToBuffer(write(bytes)), Buffer.from(bytes));
        }),
      );
    });
  }

  it('is created from the bytes of a view, not from its whole buffer', () => {
    const all = new Uint8Array([1, 2, 3, 4, 5]);
    assert.equal(bufferToBase64(all.subarray(1, 4)), 'AgME');
    assert.equal(bufferToBase64(all.buffer), 'AQIDBAU=');
    assert.equal(bufferToBase64(Buffer.from('hi')), 'aGk=');
  });

  it('is created from bytes of another realm, too, such as a test runner’s', () => {
    assert.equal(bufferToBase64(runInNewContext('new Uint8Array([1, 2, 3])')), 'AQID');
  });

  const bad = [
    'not-valid-base64!!!',
    'invalid!!base64',
    'a',
    'abcde',
    'ab=c',
    'ab===',
    'aé==',
    'a+b_',
    '=',
    '====',
  ];
  for (const text of bad) {
    it(`${JSON.stringify(text)} is not valid`, () => {
      assert.equal(validateBase64(text), false);
      assert.throws(() => base64ToBuffer(text), {
        message:
          'Invalid base64 data: String contains invalid characters. Ensure the data is properly base64-encoded.',
      });
    });
  }

  it('is not valid in a value that is not a string', () => {
    assert.equal(validateBase64(undefined as unknown as string), false);
  });

  it('is checked as it is decoded, for any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'aB0+/-_= \n!,;:data') }), (text) => {
        const decodes = (() => {
          try {
            base64ToBuffer(text);
            return true;
          } catch {
            return false;
          }
        })();
        assert.equal(validateBase64(text), decodes);
      }),
    );
  });
});

describe('base64 that need not be decoded to be sent', () => {
  const piece = 'QUJD'.repeat(256 * 1024);
  const CASES: readonly [name: string, data: string, expected: boolean][] = [
    ['nothing', '', true],
    ['whole', 'QUJD', true],
    ['with its padding', 'QUI=', true],
    ['longer than a piece', `${piece}QUJDQQ==`, true],
    ['without its padding', 'QUI', false],
    ['with bits that are lost', 'QUJ=', false],
    ['with padding where a piece ends', `${piece.slice(0, -2)}==QUJD`, false],
    ['with a sign of the other alphabet in a later piece', `${piece}QU-D`, false],
    ['with a sign that is none', 'QU!D', false],
    ['in lines', 'QUJD\nQUJD', false],
  ];
  for (const [name, data, expected] of CASES) {
    it(`is as MCP has it: ${name}`, () => assert.equal(isCanonical(data), expected));
  }
});
