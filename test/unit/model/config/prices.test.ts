import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { costOf, describeCost, describeCount, describeUsage } from '../../../../src/model/config/prices.ts';

describe('the cost', () => {
  const price = { input: 10, output: 100, cachedInput: 1, cacheWrite: 20 };
  it('counts each kind of token once', () => {
    const usage = { input: 1_000_000, cachedInput: 500_000, cacheWrite: 100_000, output: 10_000 };
    assert.equal(costOf(usage, price)?.toFixed(4), (4 + 0.5 + 2 + 1).toFixed(4));
  });
  it('uses the input price where there is no cache price', () => {
    assert.equal(costOf({ input: 1_000_000, cachedInput: 1_000_000 }, { input: 3, output: 1 }), 3);
  });
  it('is higher for a long request where the provider charges more', () => {
    const tiers = [
      { above: 1000, input: 20, output: 200 },
      { above: 2000, input: 40, output: 400 },
    ];
    const costs = [1000, 1001, 2001].map((input) => costOf({ input, output: 1000 }, { ...price, tiers }));
    assert.deepEqual(costs, [0.11, 0.22002, 0.48004]);
  });
  it('is never negative, whatever a provider reports', () => {
    assert.ok((costOf({ input: 10, cachedInput: 50, cacheWrite: 50 }, price) ?? -1) >= 0);
  });
  it('is unknown without a price or without a usage', () => {
    assert.equal(costOf({ input: 1 }, undefined), undefined);
    assert.equal(costOf({}, price), undefined);
  });
});

it('a usage is one line', () => {
  const cases = [
    [{ input: 1234, cachedInput: 1000, output: 356 }, 0.0042, '1.2k in (1.0k cached), 356 out, $0.0042'],
    [{ input: 10, output: 0 }, undefined, '10 in, 0 out'],
    [{ output: 5 }, 0, '5 out, $0'],
    [{}, undefined, ''],
  ] as const;
  for (const [usage, cost, line] of cases) assert.equal(describeUsage(usage, cost), line);
});

it('counts and costs are rounded', () => {
  const counts = [0, 999, 1000, 999_949, 999_950, 12_345_678].map(describeCount);
  assert.equal(counts.join(', '), '0, 999, 1.0k, 999.9k, 1.0M, 12.3M');
  const costs = [0, 0.00001, 0.0042, 0.1, 12.345].map(describeCost);
  assert.equal(costs.join(', '), '$0, < $0.0001, $0.0042, $0.10, $12.35');
});
