import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arrival } from '../../../../src/mcp/spill/calls.ts';

const MB = 1_000_000;

test('a long answer is told at once, then a few times a second, and its last piece too', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: string[] = [];
  const arrival = new Arrival({ arrived: (id, bytes) => told.push(`${id} ${bytes / MB}`) }, () => 7);
  arrival.add(0.9 * MB);
  assert.deepEqual(told, []);
  arrival.add(0.3 * MB);
  arrival.add(0.5 * MB);
  arrival.add(0.3 * MB);
  assert.deepEqual(told, ['7 1.2']);
  t.mock.timers.tick(250);
  assert.deepEqual(told, ['7 1.2', '7 2']);
  t.mock.timers.tick(1_000);
  assert.equal(told.length, 2);
  // The next message begins anew, and nothing of the last one is told after its end.
  arrival.add(1 * MB);
  arrival.add(1 * MB);
  arrival.end();
  t.mock.timers.tick(1_000);
  assert.deepEqual(told, ['7 1.2', '7 2', '7 3']);
  arrival.add(0.5 * MB);
  assert.equal(told.length, 3);
});
