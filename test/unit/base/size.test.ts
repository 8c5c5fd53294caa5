import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeSize } from '../../../src/base/size.ts';

describe('a size', () => {
  const CASES: readonly (readonly [bytes: number, shown: string])[] = [
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1.0 KB'],
    [12_345, '12.3 KB'],
    [999_949, '999.9 KB'],
    [999_950, '1.0 MB'],
    [5e6, '5.0 MB'],
    [3e9, '3.0 GB'],
    [9e12, '9000.0 GB'],
  ];
  for (const [bytes, shown] of CASES) {
    it(`of ${bytes} bytes is ${shown}`, () => assert.equal(describeSize(bytes), shown));
  }

  it('has its number in the user’s language', () => {
    const { format } = new Intl.NumberFormat('de', { maximumFractionDigits: 1 });
    assert.equal(describeSize(12_345, format), '12,3 KB');
  });
});
