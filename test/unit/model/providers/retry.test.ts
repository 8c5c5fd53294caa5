import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAttempt, waitWithCountdown } from '../../../../src/model/providers/retry.ts';
import type { ModelFailure } from '../../../../src/ports/models.ts';

const failure = (more: Partial<ModelFailure> = {}): ModelFailure =>
  Object.assign(new Error('overloaded'), { kind: 'modelFailure' as const, retryable: true, ...more });

describe('after a failure', () => {
  it('the second wait is twice the first, a quarter more or less, and longer for a busy provider', () => {
    const waits = (given: ModelFailure, random: number) =>
      [1, 2].map((attempts) => nextAttempt(given, attempts, () => random));
    const ms = (...times: number[]) => times.map((each) => ({ kind: 'wait', ms: each }));
    assert.deepEqual(waits(failure(), 0.5), ms(1000, 2000));
    assert.deepEqual(waits(failure(), 0), ms(750, 1500));
    assert.deepEqual(waits(failure(), 1), ms(1250, 2500));
    for (const kind of ['rateLimit', 'overloaded'] as const)
      assert.deepEqual(waits(failure({ failure: { kind, reason: 'busy' } }), 0.5), ms(5000, 10_000));
  });

  const cases: readonly (readonly [rule: string, ModelFailure, attempts: number, expected: RegExp])[] = [
    [
      'the delay that the server asks for counts',
      failure({ retryAfterMs: 1234 }),
      2,
      /^\{"kind":"wait","ms":1234\}$/,
    ],
    ['five minutes are accepted', failure({ retryAfterMs: 300_000 }), 1, /"ms":300000/],
    [
      'a longer delay is not, and the reason says so',
      failure({ retryAfterMs: 300_001 }),
      1,
      /giveUp.*waitMinutes":6/,
    ],
    ['a negative delay is 0', failure({ retryAfterMs: -5 }), 1, /"ms":0/],
    ['an invalid delay is ignored', failure({ retryAfterMs: Number.NaN }), 1, /"ms":1000/],
    ['a permanent failure is not retried', failure({ retryable: false }), 1, /^\{"kind":"giveUp"\}$/],
    ['the third attempt is the last', failure(), 3, /giveUp.*attempts":3/],
    [
      'also at a provider that is busy',
      failure({ failure: { kind: 'rateLimit', reason: 'busy' } }),
      3,
      /giveUp.*attempts":3/,
    ],
    ['also when it says how long to wait', failure({ retryAfterMs: 1 }), 3, /giveUp/],
  ];
  for (const [rule, given, attempts, expected] of cases) {
    it(rule, () => assert.match(JSON.stringify(nextAttempt(given, attempts, () => 0.5)), expected));
  }
});

describe('the countdown', () => {
  it('reports the remaining time every second', async () => {
    const ticks: number[] = [];
    const waits: number[] = [];
    const timer = async (ms: number) => void waits.push(ms);
    const { signal } = new AbortController();
    await waitWithCountdown(2500, { signal, onTick: (left) => ticks.push(left), timer });
    assert.deepEqual(ticks, [2500, 1500, 500]);
    assert.deepEqual(waits, [1000, 1000, 500]);
  });

  it('ends immediately when it is aborted, or without any time', async () => {
    const stop = new AbortController();
    let ticks = 0;
    const onTick = () => {
      ticks += 1;
      stop.abort();
    };
    await waitWithCountdown(0, { signal: stop.signal, onTick });
    assert.equal(ticks, 0);
    await waitWithCountdown(3_600_000, { signal: stop.signal, onTick });
    await waitWithCountdown(3_600_000, { signal: stop.signal, onTick });
    assert.equal(ticks, 1);
  });
});
