import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  InMemoryProtocols,
  type KnownProtocol,
  unlessExpired,
} from '../../../../src/mcp/connection/knownProtocols.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KNOWN: KnownProtocol = { era: 'legacy', sse: false, atMs: 1000 };

describe('a known protocol', () => {
  const ages: readonly (readonly [name: string, ageMs: number, isFresh: boolean])[] = [
    ['of this moment counts', 0, true],
    ['of nearly a week ago counts', 7 * DAY_MS - 1, true],
    ['of a week ago counts no more', 7 * DAY_MS, false],
    ['from the future, after a clock was set back, counts not', -1, false],
    ['without a time counts not', Number.NaN, false],
  ];
  for (const [name, ageMs, isFresh] of ages) {
    test(name, () => assert.equal(unlessExpired(KNOWN, KNOWN.atMs + ageMs), isFresh ? KNOWN : undefined));
  }

  test('that was never made is none', () => assert.equal(unlessExpired(undefined, 0), undefined));

  test('is kept for its server alone, until it is taken back', () => {
    const knownProtocols = new InMemoryProtocols();
    knownProtocols.write('a', KNOWN);
    assert.deepEqual([knownProtocols.read('a'), knownProtocols.read('b')], [KNOWN, undefined]);
    knownProtocols.write('a', undefined);
    assert.equal(knownProtocols.read('a'), undefined);
  });
});
