import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Timer } from '../../../../src/base/async.ts';
import { Asking } from '../../../../src/mcp/connection/clocks.ts';

/** A timer that tells what it was told. */
function timer(): Timer & { readonly told: string[] } {
  const told: string[] = [];
  const tell = (word: string) => () => void told.push(word);
  const { signal } = new AbortController();
  return {
    signal,
    told,
    restart: tell('restart'),
    pause: tell('pause'),
    resume: tell('resume'),
    stop: tell('stop'),
  };
}

describe('while a person is asked', () => {
  test('no clock runs, until the last of several questions is answered', async () => {
    const asking = new Asking();
    const clock = timer();
    const [first, second, work] = [
      Promise.withResolvers<number>(),
      Promise.withResolvers<number>(),
      Promise.withResolvers<string>(),
    ];
    const running = asking.during([clock], undefined, () => work.promise);
    const answers = [asking.whileAsking(first.promise), asking.whileAsking(second.promise)];
    first.resolve(1);
    await answers[0];
    assert.ok(!clock.told.includes('resume'));
    second.resolve(2);
    assert.deepEqual(await Promise.all(answers), [1, 2]);
    assert.equal(clock.told.at(-1), 'resume');
    work.resolve('done');
    assert.equal(await running, 'done');
    assert.equal(clock.told.at(-1), 'stop');
  });

  test('a request that begins waits too', async () => {
    const asking = new Asking();
    const clock = timer();
    const question = Promise.withResolvers<void>();
    const asked = asking.whileAsking(question.promise);
    const running = asking.during([clock], undefined, () => question.promise);
    assert.deepEqual(clock.told, ['pause']);
    question.resolve();
    await Promise.all([asked, running]);
  });

  test('a question fails with who fails to ask it, and the clocks run again', async () => {
    const asking = new Asking();
    const clock = timer();
    const work = Promise.withResolvers<void>();
    const running = asking.during([clock], undefined, () => work.promise);
    await assert.rejects(asking.whileAsking(Promise.reject(new Error('no'))), /^Error: no$/);
    assert.equal(clock.told.at(-1), 'resume');
    work.resolve();
    await running;
  });
});

describe('whoever stops a request', () => {
  test('gives up its question, and the next one is asked as if nothing had been', async () => {
    const asking = new Asking();
    const stop = new AbortController();
    const { signal } = asking;
    const running = asking.during([], stop.signal, async () => {
      await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
    });
    const question = asking.whileAsking(new Promise<never>(() => {}));
    stop.abort(new Error('stopped'));
    await running;
    await assert.rejects(question, /^Error: stopped$/);
    assert.equal(signal.aborted, true);
    assert.equal(asking.signal.aborted, false);
    assert.equal(await asking.whileAsking(Promise.resolve('again')), 'again');
  });

  test('leaves the question alone that may be another request’s', async () => {
    const asking = new Asking();
    const [stop, other] = [new AbortController(), Promise.withResolvers<void>()];
    const running = asking.during([], undefined, () => other.promise);
    stop.abort();
    await asking.during([], stop.signal, async () => {});
    assert.equal(asking.signal.aborted, false);
    other.resolve();
    await running;
  });
});
