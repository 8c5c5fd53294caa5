import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import {
  atMost,
  Backoff,
  ConcurrencyLimit,
  startTimer,
  Throttle,
  unlessAborted,
} from '../../../src/base/async.ts';

describe('a timer', () => {
  const start = (t: TestContext) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const timer = startTimer(100);
    return { timer, tick: (ms: number) => t.mock.timers.tick(ms), isOver: () => timer.signal.aborted };
  };

  test('is over after its time', (t) => {
    const { tick, isOver } = start(t);
    tick(99);
    assert.ok(!isOver());
    tick(1);
    assert.ok(isOver());
  });

  test('starts again when it is restarted', (t) => {
    const { timer, tick, isOver } = start(t);
    tick(99);
    timer.restart();
    tick(99);
    assert.ok(!isOver());
  });

  test('does not run while it is paused, even if it is restarted then, and has its full time afterwards', (t) => {
    const { timer, tick, isOver } = start(t);
    tick(99);
    timer.pause();
    tick(1000);
    timer.restart();
    tick(1000);
    assert.ok(!isOver());
    timer.resume();
    tick(99);
    assert.ok(!isOver());
    tick(1);
    assert.ok(isOver());
  });

  test('that keeps its time continues after a pause with the remaining time', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    t.mock.method(performance, 'now', () => Date.now());
    const timer = startTimer(100, { keepsTime: true });
    t.mock.timers.tick(60);
    for (let round = 0; round < 3; round += 1) {
      timer.pause();
      t.mock.timers.tick(1000);
      timer.resume();
    }
    t.mock.timers.tick(39);
    assert.ok(!timer.signal.aborted);
    t.mock.timers.tick(1);
    assert.ok(timer.signal.aborted);
  });

  test('that was stopped never continues', (t) => {
    const { timer, tick, isOver } = start(t);
    timer.stop();
    for (const again of [timer.restart, timer.pause, timer.resume]) again();
    tick(1000);
    assert.ok(!isOver());
  });
});

describe('waiting', () => {
  const never = new Promise<never>(() => {});

  test('ends with the reason of the signal, before or while it waits', async () => {
    const reason = new Error('enough');
    await assert.rejects(unlessAborted(never, AbortSignal.abort(reason)), reason);
    const abort = new AbortController();
    const waiting = assert.rejects(unlessAborted(never, abort.signal), reason);
    abort.abort(reason);
    await waiting;
  });

  test('ends with the work, and leaves no listener behind', async () => {
    const abort = new AbortController();
    assert.equal(await unlessAborted(Promise.resolve(1), abort.signal), 1);
    await assert.rejects(unlessAborted(Promise.reject(new Error('broken')), abort.signal), /broken/);
    await Promise.resolve();
    assert.deepEqual(getEventListeners(abort.signal, 'abort'), []);
    abort.abort();
  });

  test('no longer than a time ends with it, with the work, or with its failure', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const late = atMost(100, never);
    t.mock.timers.tick(100);
    await late;
    await atMost(100, Promise.resolve());
    await assert.rejects(atMost(100, Promise.reject(new Error('broken'))), /broken/);
  });
});

const fail = (backoff: Backoff, nowMs: number, livedMs = 0) => backoff.failed('it died', { nowMs, livedMs });

describe('the delay after failures', () => {
  test('is zero after the first one, then doubles from a second up to a minute', () => {
    const backoff = new Backoff();
    const waits = Array.from({ length: 10 }, () => {
      fail(backoff, 5000);
      return backoff.retryAtMs - 5000;
    });
    assert.deepEqual(waits, [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('stays at a minute after thousands of them', () => {
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

describe('a use of a failed server', () => {
  test('that could not be started is refused until the user starts it', () => {
    const backoff = new Backoff();
    backoff.failed('Server a could not be started.', { nowMs: 0, livedMs: undefined });
    assert.equal(
      backoff.refusal(1e12, 'a', 'start it'),
      'Server a could not be started. Fix the cause, then start it.',
    );
    backoff.reset();
    assert.equal(backoff.refusal(0, 'a', 'start it'), undefined);
  });

  test('that is too early is refused with the time, the reason and the remedy', () => {
    const backoff = new Backoff();
    fail(backoff, 0);
    assert.equal(backoff.refusal(0, 'a', 'start it'), undefined);
    fail(backoff, 0);
    fail(backoff, 0);
    assert.equal(
      backoff.refusal(1, 'a', 'start it'),
      'Server a failed 3 times in a row. Try again in 2 s, or start it now. Last error: it died',
    );
    assert.match(backoff.refusal(1999, 'a', 'start it') ?? '', /in 1 s/);
    assert.equal(backoff.refusal(2000, 'a', 'start it'), undefined);
  });

  test('after a success is not delayed', () => {
    const backoff = new Backoff();
    for (const _ of [1, 2, 3]) fail(backoff, 0);
    assert.equal(backoff.reason, 'it died');
    backoff.reset();
    assert.deepEqual(
      [backoff.reason, backoff.failures, backoff.refusal(0, 'a', 'start it')],
      [undefined, 0, undefined],
    );
    fail(backoff, 0);
    assert.equal(
      backoff.refusal(0, 'a', 'start it'),
      undefined,
      'the first failure after it costs nothing again',
    );
  });
});

describe('a throttle', () => {
  test('that is flushed runs the last work of each key now, and nothing later', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const throttle = new Throttle(100);
    const done: string[] = [];
    for (const work of ['a1', 'a2', 'a3', 'b1']) throttle.run(work.charAt(0), () => done.push(work));
    throttle.flush();
    t.mock.timers.tick(1000);
    assert.deepEqual(done, ['a1', 'b1', 'a3']);
  });

  test('runs the first work at once, and the last work within a second at its end, for each key', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const done: string[] = [];
    const throttle = new Throttle(1000);
    const run = (...works: string[]) => {
      for (const work of works) throttle.run(work.charAt(0), () => done.push(work));
    };
    run('a1', 'a2', 'a3', 'b1');
    assert.deepEqual(done, ['a1', 'b1']);
    t.mock.timers.tick(1000);
    assert.deepEqual(done, ['a1', 'b1', 'a3']);
    run('a4');
    assert.deepEqual(done, ['a1', 'b1', 'a3']);
    t.mock.timers.tick(1000);
    assert.deepEqual(done, ['a1', 'b1', 'a3', 'a4']);
    t.mock.timers.tick(1000);
    run('a5', 'a6');
    throttle.dispose();
    t.mock.timers.tick(1000);
    assert.equal(done.at(-1), 'a5');
  });

  test('also delays work that the work itself asks for', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let times = 0;
    const throttle = new Throttle(1000);
    const again = () => {
      times += 1;
      throttle.run('a', again);
    };
    again();
    assert.equal(times, 2);
    for (let second = 0; second < 3; second += 1) t.mock.timers.tick(1000);
    assert.equal(times, 5);
    throttle.dispose();
  });
});

describe('a limit of concurrency', () => {
  const setUp = (limit: () => number) => {
    const calls = new ConcurrencyLimit(limit);
    const begun = new Map<number, () => void>();
    const run = (n: number, key = 'k', signal?: AbortSignal) =>
      calls.run(key, () => new Promise<void>((resolve) => begun.set(n, resolve)), signal);
    const end = async (n: number) => {
      begun.get(n)?.();
      await new Promise(setImmediate);
    };
    return { begun: () => [...begun.keys()], run, end };
  };

  test('runs a limited number of tasks of a key at a time, the others in order', async () => {
    const { begun, run, end } = setUp(() => 2);
    const all = [1, 2, 3, 4].map((n) => run(n));
    all.push(run(9, 'other'));
    await new Promise(setImmediate);
    assert.deepEqual(begun(), [1, 2, 9]);
    await end(2);
    assert.deepEqual(begun(), [1, 2, 9, 3]);
    for (const n of [1, 3, 4, 9]) await end(n);
    await Promise.all(all);
  });

  test('never runs work that was aborted while it waited, and gives its place to the next', async () => {
    const { begun, run, end } = setUp(() => 1);
    const stop = new AbortController();
    const [first, second, third] = [run(1), run(2, 'k', stop.signal), run(3)];
    stop.abort(new Error('stopped'));
    await assert.rejects(second, /stopped/);
    await end(1);
    assert.deepEqual(begun(), [1, 3]);
    await end(3);
    await Promise.all([first, third]);
    await assert.rejects(run(4, 'k', stop.signal), /stopped/);
    const last = run(5);
    await new Promise(setImmediate);
    assert.deepEqual(begun(), [1, 3, 5]);
    await end(5);
    await last;
  });
});
