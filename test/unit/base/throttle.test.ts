import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Throttle } from '../../../src/base/async.ts';

test('the first is done at once, those within a second together at its end, each key by itself', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const done: string[] = [];
    const pace = new Throttle(1000);
    const ask = (key: string, what: string) => pace.run(key, () => done.push(what));
    ask('a', 'a1');
    ask('a', 'a2');
    ask('a', 'a3');
    ask('b', 'b1');
    assert.deepEqual(done, ['a1', 'b1']);
    mock.timers.tick(1000);
    assert.deepEqual(done, ['a1', 'b1', 'a3']);
    ask('a', 'a4');
    assert.deepEqual(done, ['a1', 'b1', 'a3']);
    mock.timers.tick(1000);
    assert.deepEqual(done, ['a1', 'b1', 'a3', 'a4']);
    mock.timers.tick(1000);
    ask('a', 'a5');
    assert.deepEqual(done.at(-1), 'a5');
    ask('a', 'a6');
    pace.dispose();
    mock.timers.tick(1000);
    assert.deepEqual(done.at(-1), 'a5');
  } finally {
    mock.timers.reset();
  }
});

test('who asks again because it was done waits as well', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let times = 0;
    const pace = new Throttle(1000);
    const again = () => {
      times += 1;
      pace.run('a', again);
    };
    pace.run('a', again);
    assert.equal(times, 1);
    for (let second = 0; second < 3; second += 1) mock.timers.tick(1000);
    assert.equal(times, 4);
    pace.dispose();
  } finally {
    mock.timers.reset();
  }
});
