import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshVerdict, MemoryVerdicts, type Verdict } from '../../../../src/mcp/connection/knownProtocols.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const VERDICT: Verdict = { era: 'legacy', sse: false, atMs: 1000 };

describe('a verdict', () => {
  const ages: readonly (readonly [name: string, ageMs: number, isFresh: boolean])[] = [
    ['of this moment counts', 0, true],
    ['of nearly a week ago counts', 7 * DAY_MS - 1, true],
    ['of a week ago counts no more', 7 * DAY_MS, false],
    ['from the future, after a clock was set back, counts not', -1, false],
    ['without a time counts not', Number.NaN, false],
  ];
  for (const [name, ageMs, isFresh] of ages) {
    test(name, () =>
      assert.equal(freshVerdict(VERDICT, VERDICT.atMs + ageMs), isFresh ? VERDICT : undefined),
    );
  }

  test('that was never made is none', () => assert.equal(freshVerdict(undefined, 0), undefined));

  test('is kept for its server alone, until it is taken back', () => {
    const verdicts = new MemoryVerdicts();
    verdicts.write('a', VERDICT);
    assert.deepEqual([verdicts.read('a'), verdicts.read('b')], [VERDICT, undefined]);
    verdicts.write('a', undefined);
    assert.equal(verdicts.read('a'), undefined);
  });
});
