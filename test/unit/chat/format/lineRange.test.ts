import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeLines, readLineRange, selectLines } from '../../../../src/chat/format/lineRange.ts';
import { localLinks } from '../../../../src/chat/format/links.ts';

describe('the lines that a link names', () => {
  const cases: readonly (readonly [target: string, lines: string | undefined])[] = [
    ['a.ts#L10', 'line 10'],
    ['a.ts#L10-L20', 'lines 10–20'],
    ['a.ts#L10-20', 'lines 10–20'],
    ['a.ts#L10C3-L20C5', 'lines 10–20'],
    ['a.ts#L20-L10', 'lines 10–20'],
    ['a.ts#L7-L7', 'line 7'],
    ['a.ts', undefined],
    ['a.md#L10-other', undefined],
    ['a.md#Lines', undefined],
    ['a.pdf#page=3', undefined],
    ['a.ts#L', undefined],
    ['a.ts#L99999999999', undefined],
  ];
  for (const [target, lines] of cases) {
    it(`${target} names ${lines ?? 'the whole file'}`, () => {
      const range = readLineRange(target);
      assert.equal(range && describeLines(range), lines);
    });
  }

  it('make one link of each range, and none of an encoded name', () => {
    const body = '[a](a.ts#L1) [b](a.ts#L1) [c](a.ts#L2) [d](a.ts) [e](a%23L1)';
    assert.deepEqual(
      localLinks(body).map(({ target, lines }) => [target, lines?.first]),
      [
        ['a.ts', 1],
        ['a.ts', 2],
        ['a.ts', undefined],
        ['a#L1', undefined],
      ],
    );
  });
});

describe('the lines of a text', () => {
  const TEXT = 'a\r\nb\n\nd\n';
  const cases: readonly (readonly [first: number, last: number, lines: readonly string[]])[] = [
    [1, 2, ['a', 'b']],
    [3, 3, ['']],
    [4, 9, ['d']],
    [5, 5, []],
    [0, 0, []],
  ];
  for (const [first, last, lines] of cases) {
    it(`${first} to ${last} are ${JSON.stringify(lines)}`, () =>
      assert.deepEqual(selectLines(TEXT, { first, last }), { lines, total: 4 }));
  }
});
