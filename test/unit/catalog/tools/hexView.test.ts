import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hexView } from '../../../../src/catalog/tools/texts.ts';

/** The bytes that a view shows, by its digits alone. */
function readBack(view: string): readonly number[] {
  return view.split('\n').flatMap((line) =>
    line
      .slice(line.indexOf(' '), line.indexOf('|'))
      .trim()
      .split(/\s+/)
      .filter((each) => each !== '')
      .map((each) => Number.parseInt(each, 16)),
  );
}

describe('bytes as digits and letters', () => {
  it('sixteen a line, with where they are in the file', () => {
    const bytes = Buffer.from('%PDF-1.4\n%âãÏÓ\nobj', 'latin1');
    assert.equal(
      hexView(bytes, 4096),
      [
        '00001000  25 50 44 46 2d 31 2e 34  0a 25 e2 e3 cf d3 0a 6f  |%PDF-1.4.%.....o|',
        '00001010  62 6a                                             |bj|',
      ].join('\n'),
    );
  });

  it('nothing of nothing', () => {
    assert.equal(hexView(new Uint8Array(), 0), '');
  });

  it('an offset beyond 4 GiB is whole', () => {
    assert.match(hexView(new Uint8Array([0]), 0x1_2345_6789), /^123456789 {2}00 /);
  });

  it('shows every byte once, in order, in printable letters only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(), (bytes, start) => {
        const view = hexView(bytes, start);
        assert.deepEqual(readBack(view), [...bytes]);
        assert.match(view, /^[\x20-\x7e\n]*$/);
        assert.equal(view === '' ? 0 : view.split('\n').length, Math.ceil(bytes.length / 16));
      }),
    );
  });
});
