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

test('a server that is refused three times in a row is not heard for five minutes', async () => {
  let now = 0;
  const limit = new PendingRequestLimit({ now: () => now });
  const ask = (server: string, action: string) =>
    limit.run(
      server,
      async () => action,
      (answer) => answer !== 'accept',
    );
  await ask('nag', 'decline');
  await ask('nag', 'decline');
  await ask('nag', 'accept');
  for (const action of ['decline', 'cancel', 'decline']) await ask('nag', action);
  await assert.rejects(ask('nag', 'accept'), /declined 3 requests in a row/);
  assert.equal(await ask('calm', 'accept'), 'accept');
  now = 5 * 60_000;
  assert.equal(await ask('nag', 'accept'), 'accept');
});

test('a question that fails is not open any more', async () => {
  let now = 0;
  const limit = new PendingRequestLimit({ now: () => (now += 5 * 60_000) });
  for (let times = 0; times < 20; times += 1) {
    await assert.rejects(
      limit.run('server', async () => {
        throw new Error('no');
      }),
      { message: 'no' },
    );
  }
});
