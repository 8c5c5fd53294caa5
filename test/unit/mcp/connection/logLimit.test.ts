import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogLimit } from '../../../../src/mcp/connection/stderr.ts';

test('a thousand lines a minute are logged, then one notice, until the next minute', () => {
  const limit = new LogLimit();
  const minute = (nowMs: number) => {
    const taken = Array.from({ length: 1500 }, (_, line) => limit.take(nowMs + line));
    return ['log', 'last', 'drop'].map((verdict) => taken.filter((each) => each === verdict).length);
  };
  assert.deepEqual(minute(5), [1000, 1, 499]);
  assert.deepEqual(minute(2000), [0, 0, 1500]);
  assert.deepEqual(minute(70_000), [1000, 1, 499]);
});
