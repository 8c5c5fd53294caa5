import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { atMost, startTimer, unlessAborted } from '../../../src/base/async.ts';

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

  test('begins anew when it is restarted', (t) => {
    const { timer, tick, isOver } = start(t);
    tick(99);
    timer.restart();
    tick(99);
    assert.ok(!isOver());
  });

  test('stands still while it is paused, also when it is restarted then, and has its whole time afterwards', (t) => {
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

  test('that keeps its time goes on after a pause with what it had left', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
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

  test('that was stopped never goes on', (t) => {
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
