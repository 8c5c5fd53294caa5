import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  countAttempt,
  NO_ATTEMPTS,
  nextAttempt,
  waitWithCountdown,
} from '../../../../src/model/providers/retry.ts';
import type { ModelFailure } from '../../../../src/ports/models.ts';

const failure = (more: Partial<ModelFailure> = {}): ModelFailure =>
  Object.assign(new Error('overloaded'), { kind: 'modelFailure' as const, retryable: true, ...more });

describe('after a failure', () => {
  it('the waits double, a quarter more or less', () => {
    const waits = (random: number) =>
      [1, 2, 3, 4, 5].map((refused) => nextAttempt(failure(), { begun: 0, refused }, () => random));
    const ms = (...times: number[]) => times.map((each) => ({ kind: 'wait', ms: each }));
    assert.deepEqual(waits(0.5), ms(1000, 2000, 4000, 8000, 16_000));
    assert.deepEqual(waits(0), ms(750, 1500, 3000, 6000, 12_000));
    assert.deepEqual(waits(1), ms(1250, 2500, 5000, 10_000, 20_000));
  });

  const cases: readonly (readonly [rule: string, ModelFailure, refused: number, expected: RegExp])[] = [
    [
      'the delay that the server asks for counts',
      failure({ retryAfterMs: 1234 }),
      3,
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
    ['six attempts are enough', failure(), 6, /giveUp.*attempts":6/],
    [
      'three are enough for an error of the server',
      failure({ failure: { kind: 'failed', reason: 'boom' } }),
      3,
      /giveUp.*attempts":3/,
    ],
    ['also when the server asks to retry', failure({ retryAfterMs: 1 }), 6, /giveUp/],
  ];
  for (const [rule, given, refused, expected] of cases) {
    it(rule, () =>
      assert.match(JSON.stringify(nextAttempt(given, { begun: 0, refused }, () => 0.5)), expected),
    );
  }

  const begun = { begun: true, progress: true };
  const refused = { begun: false, progress: false };
  const fiveRefused = Array.from({ length: 5 }, () => refused);
  const sequences: readonly (readonly [rule: string, attempts: readonly (typeof begun)[], kind: string])[] = [
    ['a reply that broke off twice is requested again', [begun, begun], 'wait'],
    ['the third attempt is the last, whatever progress each has made', [begun, begun, begun], 'giveUp'],
    ['refusals between them do not change that', [begun, refused, begun, refused, begun], 'giveUp'],
    ['progress resets the count of refusals', [...fiveRefused, begun, refused], 'wait'],
    [
      'an attempt without new text does not',
      [...fiveRefused, { ...begun, progress: false }, refused],
      'giveUp',
    ],
  ];
  for (const [rule, attempts, kind] of sequences) {
    it(rule, () => {
      const counted = attempts.reduce(countAttempt, NO_ATTEMPTS);
      assert.equal(nextAttempt(failure(), counted, () => 0.5).kind, kind);
    });
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
