import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  costOf,
  describeCost,
  describeCount,
  describeUsage,
  priceOf,
} from '../../../../src/model/config/prices.ts';

describe('the cost', () => {
  const price = { input: 10, output: 100, cachedInput: 1, cacheWrite: 20 };
  it('counts each kind of token once', () => {
    const usage = { input: 1_000_000, cachedInput: 500_000, cacheWrite: 100_000, output: 10_000 };
    assert.equal(costOf(usage, price)?.toFixed(4), (4 + 0.5 + 2 + 1).toFixed(4));
  });
  it('uses the input price where there is no cache price', () => {
    assert.equal(costOf({ input: 1_000_000, cachedInput: 1_000_000 }, { input: 3, output: 1 }), 3);
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

describe('the price', () => {
  const of = (provider: 'anthropic' | 'openai' | 'openai-compatible' | 'tour', model: string, more = {}) =>
    priceOf({ name: 'x', provider, model, ...more });

  it('is that of the model’s family, with or without a date', () => {
    assert.equal(of('anthropic', 'claude-sonnet-4-5')?.output, 15);
    assert.equal(of('anthropic', 'claude-sonnet-4-5-20250929')?.output, 15);
    assert.equal(of('openai', 'gpt-4o-2024-08-06')?.output, 10);
    assert.equal(of('openai', 'gpt-4o-mini')?.output, 0.6);
  });
  it('is not guessed for another model with a similar name', () => {
    for (const model of ['claude-opus-4-9', 'claude-sonnet', 'constructor'])
      assert.equal(of('anthropic', model), undefined);
    for (const model of ['gpt-5-pro', 'gpt-5.9', 'gpt-4o-audio'])
      assert.equal(of('openai', model), undefined);
  });
  it('is the configured one, if there is one', () => {
    assert.deepEqual(of('openai', 'gpt-4o', { price: { input: 1, output: 1 } }), { input: 1, output: 1 });
  });
  it('is unknown for another endpoint', () => {
    assert.equal(of('openai', 'gpt-4o', { baseUrl: 'https://h/v1' }), undefined);
    assert.equal(of('openai-compatible', 'gpt-4o'), undefined);
  });
  it('of the tour is zero', () => assert.deepEqual(of('tour', 'tour'), { input: 0, output: 0 }));
});
