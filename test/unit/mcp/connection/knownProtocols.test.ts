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
    ['is valid now', 0, true],
    ['is valid for a week', 7 * DAY_MS - 1, true],
    ['expires after a week', 7 * DAY_MS, false],
    ['is invalid with a time in the future', -1, false],
    ['is invalid without a time', Number.NaN, false],
  ];
  for (const [name, ageMs, isFresh] of ages) {
    test(name, () => assert.equal(unlessExpired(KNOWN, KNOWN.atMs + ageMs), isFresh ? KNOWN : undefined));
  }

  test('may be missing', () => assert.equal(unlessExpired(undefined, 0), undefined));

  test('is kept for its server until it is removed', () => {
    const knownProtocols = new InMemoryProtocols();
    knownProtocols.write('a', KNOWN);
    assert.deepEqual([knownProtocols.read('a'), knownProtocols.read('b')], [KNOWN, undefined]);
    knownProtocols.write('a', undefined);
    assert.equal(knownProtocols.read('a'), undefined);
  });
});
