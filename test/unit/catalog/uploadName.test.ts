import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkUploadName } from '../../../src/catalog/save.ts';

describe('the name of an upload', () => {
  for (const name of [
    'report.pdf',
    'Größe 2 (neu).csv',
    '日本語.txt',
    '👩‍👩‍👧.png',
    'Makefile',
    'a..b',
    'console.log',
    '50%.txt',
    `${'x'.repeat(116)}.txt`,
  ]) {
    it(`may be ${name}`, () => assert.equal(checkUploadName(name), undefined));
  }

  const refused: Record<string, readonly string[]> = {
    'it is empty': [''],
    'it contains a slash: give one name, without folders': ['a/b', '../b', '/etc/passwd', 'a\\b', '..\\b'],
    'it contains a colon': ['C:b.txt', 'b.txt:stream'],
    'it contains a control character': ['a\0b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a\u2028b'],
    'it begins with a dot': ['.', '..', '.env', '...'],
    'it begins with a space': [' a', '\u00a0a'],
    'it ends with a dot or a space': ['a.', 'a ', 'a.txt\u3000'],
    'it is the name of a device': ['con', 'NUL.txt', 'com1', 'Lpt9.tar.gz', 'COM¹', 'aux .txt', 'CONIN$'],
    'it contains an unpaired surrogate': ['a\ud800b', '\udc00'],
    'it contains a bidirectional control character': ['gpj.\u202eexe', 'a\u2067b'],
    'it is longer than 120 characters': ['x'.repeat(121)],
  };
  for (const [reason, names] of Object.entries(refused)) {
    for (const name of names) {
      it(`may not be ${JSON.stringify(name.slice(0, 30))}: ${reason}`, () =>
        assert.equal(checkUploadName(name), reason));
    }
  }

  it('never contains a path', () => {
    const signs = fc.constantFrom('/', '\\', '.', '..', ':', '\0', ' ', 'a', '~', '%2f');
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(signs, fc.string({ unit: 'binary' })) }), (name) => {
        if (checkUploadName(name) !== undefined) return;
        assert.ok(!/[/\\:\0]/.test(name) && name.trim() !== '' && !/^\.|[. ]$/.test(name));
      }),
    );
  });
});
