import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Backoff } from '../../../src/base/async.ts';

const fail = (backoff: Backoff, nowMs: number, livedMs = 0) => backoff.failed('it died', { nowMs, livedMs });

describe('the wait after failures', () => {
  test('is none after the first one, then doubles from a second up to a minute', () => {
    const backoff = new Backoff();
    const waits = Array.from({ length: 10 }, () => {
      fail(backoff, 5000);
      return backoff.retryAtMs - 5000;
    });
    assert.deepEqual(waits, [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('is no less after thousands of them', () => {
    const backoff = new Backoff();
    for (let times = 0; times < 5000; times += 1) fail(backoff, 0);
    assert.equal(backoff.retryAtMs, 60_000);
  });

  const lives: readonly (readonly [livedMs: number, failures: number])[] = [
    [0, 4],
    [59_999, 4],
    [60_000, 1],
  ];
  for (const [livedMs, failures] of lives) {
    test(`counts ${failures} when the server had lived ${livedMs} ms before the fourth`, () => {
      const backoff = new Backoff();
      for (const _ of [1, 2, 3]) fail(backoff, 0);
      fail(backoff, 0, livedMs);
      assert.equal(backoff.failures, failures);
      assert.equal(backoff.retryAtMs, failures === 1 ? 0 : 4000);
    });
  }
});

describe('a caller', () => {
  test('too early is told when, why, and what to do', () => {
    const backoff = new Backoff();
    fail(backoff, 0);
    assert.equal(backoff.refusal(0), undefined);
    fail(backoff, 0);
    fail(backoff, 0);
    assert.equal(
      backoff.refusal(1),
      'it failed 3 times in a row. Try again in 2 s, or run “Filechat: Restart Server” now. Last error: it died',
    );
    assert.match(backoff.refusal(1999) ?? '', /in 1 s/);
    assert.equal(backoff.refusal(2000), undefined);
  });

  test('after a success finds nothing of what was', () => {
    const backoff = new Backoff();
    for (const _ of [1, 2, 3]) fail(backoff, 0);
    assert.equal(backoff.reason, 'it died');
    backoff.reset();
    assert.deepEqual([backoff.reason, backoff.failures, backoff.refusal(0)], [undefined, 0, undefined]);
    fail(backoff, 0);
    assert.equal(backoff.refusal(0), undefined, 'the first failure after it costs nothing again');
  });
});
