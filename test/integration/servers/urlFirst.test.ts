/** A server that wants the user to go to an address before it does what it is called for. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Elicitation, ElicitationAnswer } from '../../../src/ports/servers.ts';
import { eraServer, open } from '../helpers/eraServer.ts';

const call = (tool: string) => ({ id: 'c1', server: 's', tool, arguments: {} });

function start(t: TestContext, answer: ElicitationAnswer, visited?: () => Promise<boolean>) {
  const { config, heard } = eraServer(t, 'legacy');
  const asked = Promise.withResolvers<Elicitation>();
  const elicit = async (elicitation: Elicitation) => {
    asked.resolve(elicitation);
    return answer;
  };
  const connections = open(t, config, { requests: { elicit, ...(visited ? { visited } : {}) } });
  const calls = () => heard().filter((line) => line === 'tools/call').length;
  return { connections, asked: asked.promise, calls };
}

test('the call is made again when the server says that it is done, and not before', async (t) => {
  const { connections, asked, calls } = start(t, { action: 'accept' });
  const visiting = connections.callTool(call('visit'));
  assert.deepEqual(await asked, { kind: 'url', message: 'Sign in.', url: 'https://example.com/', id: 'e1' });
  await connections.callTool(call('mixed'));
  assert.equal(calls(), 2, 'one of each');
  await connections.callTool(call('signIn'));
  assert.match(JSON.stringify(await visiting), /visited/);
});

for (const isDone of [true, false]) {
  test(`a server that does not say it: the user says ${isDone}`, async (t) => {
    const { connections, calls } = start(t, { action: 'accept' }, async () => isDone);
    await assert.rejects(connections.callTool(call('visit')), /Sign in first\.$/);
    // It has not been signed in, so the second try fails as the first.
    assert.equal(calls(), isDone ? 2 : 1);
  });
}

for (const action of ['decline', 'cancel'] as const) {
  test(`a user who says ${action} ends the call, which is not made again`, async (t) => {
    const { connections, calls } = start(t, { action });
    await assert.rejects(
      connections.callTool(call('visit')),
      /Tool visit of server s failed: Sign in first\.$/,
    );
    assert.equal(calls(), 1);
  });
}

test('a server that dies meanwhile ends the call', async (t) => {
  const { connections, asked } = start(t, { action: 'accept' });
  const visiting = assert.rejects(
    connections.callTool(call('visit')),
    /Tool visit of server s failed: .*process ended/,
  );
  await asked;
  await assert.rejects(connections.callTool(call('die')), /process ended/);
  await visiting;
});

test('what somebody watches is watched again after the server has died', async (t) => {
  const { config, heard } = eraServer(t, 'legacy');
  const connections = open(t, config);
  await connections.listTools();
  const watch = connections.watch({ server: 's', uri: 'a:b' }, () => {});
  await connections.callTool(call('mixed'));
  assert.equal(heard().filter((line) => line === 'resources/subscribe').length, 1);
  const back = Promise.withResolvers<void>();
  const look = async () => {
    if ((await connections.states()).get('s')?.kind === 'ready') back.resolve();
  };
  await assert.rejects(connections.callTool(call('die')), /process ended/);
  connections.onDidChange(() => void look());
  await back.promise;
  await connections.callTool(call('mixed'));
  assert.deepEqual(
    heard().filter((line) => ['start', 'resources/subscribe'].includes(line)),
    ['start', 'resources/subscribe'],
  );
  watch.dispose();
});
