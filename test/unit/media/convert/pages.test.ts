import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePages, selectPages } from '../../../../src/media/convert/pages.ts';

describe('pages', () => {
  const cases: readonly (readonly [written: string, pages: readonly number[]])[] = [
    ['3', [3]],
    ['1-3,7', [1, 2, 3, 7]],
    ['9-', [9, 10]],
    ['7, 1 - 2', [1, 2, 7]],
    ['2–3', [2, 3]],
    ['1-2,2-3', [1, 2, 3]],
    ['9-99', [9, 10]],
    ['11', []],
  ];
  for (const [written, pages] of cases) {
    it(`“${written}” of ten are ${pages.join(', ') || 'none'}`, () => {
      const ranges = parsePages(written);
      assert.ok(ranges);
      assert.deepEqual(selectPages(ranges, 10), pages);
    });
  }

  it('are all of them without a choice', () => assert.deepEqual(selectPages(undefined, 3), [1, 2, 3]));

  for (const written of ['', '0', 'all', '3-1', '1,,2', '-3', '1.5', '1'.repeat(20), '1,'.repeat(200)]) {
    it(`“${written.slice(0, 20)}” is refused`, () => assert.equal(parsePages(written), undefined));
  }

  it('of a huge range cost nothing', () => {
    assert.deepEqual(selectPages(parsePages('1-999999999'), 2), [1, 2]);
  });
});
