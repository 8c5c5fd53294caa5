import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PendingRequestLimit } from '../../../../src/mcp/requests/requestLimit.ts';

test('too many pending requests of one server are rejected without affecting others', async () => {
  const limit = new PendingRequestLimit();
  const { promise, resolve } = Promise.withResolvers<string>();
  const open = Array.from({ length: 10 }, () => limit.run('flood', () => promise));
  await assert.rejects(
    limit.run('flood', async () => 'eleventh'),
    /already 10 pending requests/,
  );
  assert.equal(await limit.run('calm', async () => 'heard'), 'heard');
  resolve('answered');
  assert.deepEqual(new Set(await Promise.all(open)), new Set(['answered']));
  assert.equal(await limit.run('flood', async () => 'again'), 'again');
});

test('a question that fails is not open any more', async () => {
  const limit = new PendingRequestLimit();
  for (let times = 0; times < 20; times += 1) {
    await assert.rejects(
      limit.run('server', async () => {
        throw new Error('no');
      }),
      { message: 'no' },
    );
  }
});
