import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JsonFilter } from '../../../../src/mcp/spill/jsonFilter.ts';

const MB = 1_000_000;

test('a long response is reported at once, then a few times a second, including its last piece', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reported: string[] = [];
  const filter = new JsonFilter({
    requests: {
      ticketFor: () => undefined,
      assign: async () => {},
      arrived: (id, bytes) => reported.push(`${id} ${bytes / MB}`),
    },
  });
  const push = (megabytes: number, start = '') => filter.push(Buffer.from(start.padEnd(megabytes * MB)));
  await push(0.9, '{"id":7,');
  assert.deepEqual(reported, []);
  await push(0.3);
  await push(0.5);
  await push(0.3);
  assert.deepEqual(reported, ['7 1.2']);
  t.mock.timers.tick(250);
  assert.deepEqual(reported, ['7 1.2', '7 2']);
  t.mock.timers.tick(1_000);
  assert.equal(reported.length, 2);
  // Nothing is reported after the end of a message, and the next one is counted from zero.
  await push(1);
  await push(1);
  await filter.end();
  t.mock.timers.tick(1_000);
  assert.deepEqual(reported, ['7 1.2', '7 2', '7 3']);
  await push(0.5);
  assert.equal(reported.length, 3);
});
