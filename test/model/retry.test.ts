import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextTry, waitWithCountdown } from '../../src/model/retry.ts';
import type { ModelFailure } from '../../src/ports.ts';

const failure = (more: Partial<ModelFailure> = {}): ModelFailure =>
  Object.assign(new Error('overloaded'), { kind: 'modelFailure' as const, retryable: true, ...more });

describe('after a failure', () => {
  it('the waits double, a quarter more or less', () => {
    const waits = (random: number) => [1, 2, 3, 4, 5].map((each) => nextTry(failure(), each, () => random));
    const ms = (...times: number[]) => times.map((each) => ({ kind: 'wait', ms: each }));
    assert.deepEqual(waits(0.5), ms(1000, 2000, 4000, 8000, 16_000));
    assert.deepEqual(waits(0), ms(750, 1500, 3000, 6000, 12_000));
    assert.deepEqual(waits(1), ms(1250, 2500, 5000, 10_000, 20_000));
  });

  const cases: readonly (readonly [
    rule: string,
    failure: ModelFailure,
    attempt: number,
    expected: RegExp,
  ])[] = [
    ['what the server asks for counts', failure({ retryAfterMs: 1234 }), 3, /^\{"kind":"wait","ms":1234\}$/],
    ['five minutes are waited', failure({ retryAfterMs: 300_000 }), 1, /"ms":300000/],
    ['more is not, and the reason says so', failure({ retryAfterMs: 300_001 }), 1, /giveUp.*wait 6 minutes/],
    ['a negative wait is none', failure({ retryAfterMs: -5 }), 1, /"ms":0/],
    ['a wait that is no number is not believed', failure({ retryAfterMs: Number.NaN }), 1, /"ms":1000/],
    ['what cannot get better is not tried again', failure({ retryable: false }), 1, /^\{"kind":"giveUp"\}$/],
    ['six tries are enough', failure(), 6, /giveUp.*6 times/],
    ['also when the server would like more', failure({ retryAfterMs: 1 }), 6, /giveUp/],
  ];
  for (const [rule, given, attempt, expected] of cases) {
    it(rule, () => assert.match(JSON.stringify(nextTry(given, attempt, () => 0.5)), expected));
  }
});

describe('the countdown', () => {
  it('tells every second how much is left', async () => {
    const ticks: number[] = [];
    const waits: number[] = [];
    const timer = async (ms: number) => void waits.push(ms);
    const { signal } = new AbortController();
    assert.equal(await waitWithCountdown(2500, { signal, onTick: (left) => ticks.push(left), timer }), true);
    assert.deepEqual(
      [ticks, waits],
      [
        [2500, 1500, 500],
        [1000, 1000, 500],
      ],
    );
  });

  it('ends at once when it is told to', async () => {
    const stop = new AbortController();
    const onTick = () => stop.abort();
    assert.equal(await waitWithCountdown(3_600_000, { signal: stop.signal, onTick }), false);
    assert.equal(await waitWithCountdown(3_600_000, { signal: AbortSignal.abort(), onTick }), false);
  });

  it('of nothing is over', async () => {
    assert.equal(
      await waitWithCountdown(0, { signal: new AbortController().signal, onTick: () => {} }),
      true,
    );
  });
});
