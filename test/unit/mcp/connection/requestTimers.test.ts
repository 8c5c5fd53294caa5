import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Timer } from '../../../../src/base/async.ts';
import { RequestTimers } from '../../../../src/mcp/connection/requestTimers.ts';

/** A timer that records its calls. */
function timer(): Timer & { readonly calls: string[] } {
  const calls: string[] = [];
  const tell = (word: string) => () => void calls.push(word);
  const { signal } = new AbortController();
  return {
    signal,
    calls,
    restart: tell('restart'),
    pause: tell('pause'),
    resume: tell('resume'),
    stop: tell('stop'),
  };
}

describe('while the user answers a prompt', () => {
  test('timers are paused until the last of several prompts is answered', async () => {
    const timers = new RequestTimers();
    const clock = timer();
    const [first, second, work] = [
      Promise.withResolvers<number>(),
      Promise.withResolvers<number>(),
      Promise.withResolvers<string>(),
    ];
    const running = timers.run([clock], undefined, () => work.promise);
    const answers = [timers.pauseWhile(first.promise), timers.pauseWhile(second.promise)];
    first.resolve(1);
    await answers[0];
    assert.ok(!clock.calls.includes('resume'));
    second.resolve(2);
    assert.deepEqual(await Promise.all(answers), [1, 2]);
    assert.equal(clock.calls.at(-1), 'resume');
    work.resolve('done');
    assert.equal(await running, 'done');
    assert.equal(clock.calls.at(-1), 'stop');
  });

  test('the timers of a new request are paused, too', async () => {
    const timers = new RequestTimers();
    const clock = timer();
    const question = Promise.withResolvers<void>();
    const asked = timers.pauseWhile(question.promise);
    const running = timers.run([clock], undefined, () => question.promise);
    assert.deepEqual(clock.calls, ['pause']);
    question.resolve();
    await Promise.all([asked, running]);
  });

  test('a prompt that fails rejects, and the timers resume', async () => {
    const timers = new RequestTimers();
    const clock = timer();
    const work = Promise.withResolvers<void>();
    const running = timers.run([clock], undefined, () => work.promise);
    await assert.rejects(timers.pauseWhile(Promise.reject(new Error('no'))), /^Error: no$/);
    assert.equal(clock.calls.at(-1), 'resume');
    work.resolve();
    await running;
  });
});

describe('aborting a request', () => {
  test('cancels its prompt, but not the next one', async () => {
    const timers = new RequestTimers();
    const stop = new AbortController();
    const { promptSignal } = timers;
    const running = timers.run([], stop.signal, async () => {
      await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
    });
    const question = timers.pauseWhile(new Promise<never>(() => {}));
    stop.abort(new Error('stopped'));
    await running;
    await assert.rejects(question, /^Error: stopped$/);
    assert.equal(promptSignal.aborted, true);
    assert.equal(timers.promptSignal.aborted, false);
    assert.equal(await timers.pauseWhile(Promise.resolve('again')), 'again');
  });

  test('keeps a prompt that may belong to another request', async () => {
    const timers = new RequestTimers();
    const [stop, other] = [new AbortController(), Promise.withResolvers<void>()];
    const running = timers.run([], undefined, () => other.promise);
    stop.abort();
    await timers.run([], stop.signal, async () => {});
    assert.equal(timers.promptSignal.aborted, false);
    other.resolve();
    await running;
  });
});
