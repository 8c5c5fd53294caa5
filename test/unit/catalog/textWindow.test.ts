import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REST_BYTES, textWindow } from '../../../src/catalog/windows.ts';

/** As a reader does it: with a few bytes before the place and behind the window, and no others. */
function windowOf(file: Uint8Array, start: number, maxBytes: number) {
  const offset = Math.max(0, start - REST_BYTES);
  const bytes = file.subarray(offset, start + maxBytes + REST_BYTES);
  return textWindow({ bytes, offset, totalBytes: file.length }, { start, maxBytes });
}

/** All windows, from the beginning on. */
function windowsOf(file: Uint8Array, maxBytes: number): Uint8Array[] {
  const windows: Uint8Array[] = [];
  for (let start = 0; start < file.length; ) {
    const window = windowOf(file, start, maxBytes);
    assert.ok(window.fits);
    assert.equal(window.start, start, 'a window begins where the one before it ended');
    assert.ok(window.end > start, 'each step makes progress');
    assert.ok(window.end - window.start <= maxBytes, 'no window is larger than asked');
    windows.push(file.subarray(window.start, window.end));
    start = window.end;
  }
  return windows;
}

const strict = (bytes: Uint8Array) =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('a', 'é', '€', '😀', '\r\n', '\ufeff'), fc.string()),
});
const anySize = fc.integer({ min: 4, max: 12 });
/** Pieces of characters and bytes that no character has. */
const anyBytes = fc.array(
  fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xa9, 0xe2, 0x82, 0xed, 0xa0, 0xf0, 0x9f, 0xff),
);

describe('windows of text', () => {
  it('together are the file, and each is valid text', () => {
    fc.assert(
      fc.property(anyText, anySize, (text, maxBytes) => {
        const windows = windowsOf(Buffer.from(text.toWellFormed()), maxBytes);
        assert.equal(windows.map(strict).join(''), text.toWellFormed());
      }),
    );
  });

  it('together are the file, even if it is not text', () => {
    fc.assert(
      fc.property(anyBytes, anySize, (values, maxBytes) => {
        const file = Uint8Array.from(values);
        assert.deepEqual(Buffer.concat(windowsOf(file, maxBytes)), Buffer.from(file));
      }),
    );
  });

  it('hold the byte that was asked for, wherever it is', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), anySize, (text, at, maxBytes) => {
        const file = Buffer.from(`${text.toWellFormed()}.`);
        const start = at % file.length;
        const window = windowOf(file, start, maxBytes);
        assert.ok(window.fits && window.start <= start && start < window.end);
        strict(file.subarray(window.start, window.end));
      }),
    );
  });

  it('are as large as they may be', () => {
    fc.assert(
      fc.property(anyText, anySize, (text, maxBytes) => {
        const windows = windowsOf(Buffer.from(text.toWellFormed()), maxBytes);
        for (const window of windows.slice(0, -1)) assert.ok(window.length > maxBytes - 4);
      }),
    );
  });

  const cases: Record<string, [file: string, start: number, maxBytes: number, expected: unknown]> = {
    'begin with the character that a place is within': ['a€b', 2, 4, { fits: true, start: 1, end: 5 }],
    'are empty at the end': ['a€', 4, 4, { fits: true, start: 4, end: 4 }],
    'say how many bytes a character needs': ['a😀', 1, 3, { fits: false, neededBytes: 4 }],
    'say it too for a place within it': ['a€', 3, 2, { fits: false, neededBytes: 3 }],
    'may be smaller than any character of another kind': ['ab', 1, 1, { fits: true, start: 1, end: 2 }],
  };
  for (const [name, [file, start, maxBytes, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(windowOf(Buffer.from(file), start, maxBytes), expected));
  }

  it('leave half a character at the end of the file for the last one', () => {
    const file = Buffer.from('ab€').subarray(0, -1);
    assert.deepEqual(
      windowsOf(file, 64).map((each) => each.length),
      [2, 2],
    );
  });
});
