/** A server that requires the user to visit a URL before it runs a tool. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Elicitation, ElicitationAnswer } from '../../../src/ports/servers.ts';
import { eraServer } from '../helpers/eraServer.ts';
import { serve } from '../helpers/serving.ts';

function start(t: TestContext, answer: ElicitationAnswer, visited?: () => Promise<boolean>) {
  const { config, heard } = eraServer(t, 'legacy');
  const asked = Promise.withResolvers<Elicitation>();
  const elicit = async (elicitation: Elicitation) => {
    asked.resolve(elicitation);
    return answer;
  };
  const { call } = serve(t, { s: config }, { requests: { elicit, ...(visited ? { visited } : {}) } });
  const calls = () => heard().filter((line) => line === 'tools/call').length;
  return { call, asked: asked.promise, calls };
}

test('the call is repeated when the server reports completion, and not before', async (t) => {
  const { call, asked, calls } = start(t, { action: 'accept' });
  const visiting = call('s.visit');
  assert.deepEqual(await asked, { kind: 'url', message: 'Sign in.', url: 'https://example.com/', id: 'e1' });
  await call('s.mixed');
  assert.equal(calls(), 2, 'one of each');
  await call('s.signIn');
  assert.match(JSON.stringify(await visiting), /visited/);
});

for (const isDone of [true, false]) {
  test(`without a report of the server, the user confirms with ${isDone}`, async (t) => {
    const { call, calls } = start(t, { action: 'accept' }, async () => isDone);
    await assert.rejects(call('s.visit'), /Sign in first\.$/);
    // The user has not signed in, so the second attempt fails like the first.
    assert.equal(calls(), isDone ? 2 : 1);
  });
}

for (const action of ['decline', 'cancel'] as const) {
  test(`the answer ${action} ends the call, which is not repeated`, async (t) => {
    const { call, calls } = start(t, { action });
    await assert.rejects(call('s.visit'), /Tool visit of server s failed: Sign in first\.$/);
    assert.equal(calls(), 1);
  });
}

test('a server that exits meanwhile ends the call', async (t) => {
  const { call, asked } = start(t, { action: 'accept' });
  const visiting = assert.rejects(call('s.visit'), /Tool visit of server s failed: .*process ended/);
  await asked;
  await assert.rejects(call('s.die'), /process ended/);
  await visiting;
});

test('a subscription continues after the server has exited', async (t) => {
  const { config, heard } = eraServer(t, 'legacy');
  const { client, call } = serve(t, { s: config });
  await client.listTools();
  const watch = client.subscribe({ server: 's', uri: 'a:b' }, () => {});
  await call('s.mixed');
  assert.equal(heard().filter((line) => line === 'resources/subscribe').length, 1);
  const back = Promise.withResolvers<void>();
  const look = async () => {
    if ((await client.states()).get('s')?.kind === 'ready') back.resolve();
  };
  await assert.rejects(call('s.die'), /process ended/);
  client.onDidChange(() => void look());
  await back.promise;
  await call('s.mixed');
  assert.deepEqual(
    heard().filter((line) => ['start', 'resources/subscribe'].includes(line)),
    ['start', 'resources/subscribe'],
  );
  watch.dispose();
});
