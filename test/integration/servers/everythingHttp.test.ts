/** The reference server over HTTP: the tools for which the transport makes a difference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, SERVER } from '../helpers/everything.ts';
import { TOOLS, WillingUser } from '../helpers/everythingTools.ts';
import { freePort, fromNpm, http, startAndAwait } from '../helpers/serving.ts';

test('server-everything over Streamable HTTP', async (t) => {
  const port = await freePort();
  const config = fromNpm('@modelcontextprotocol/server-everything', 'streamableHttp');
  await startAndAwait(t, { ...config, env: { PORT: String(port) } }, /listening on port/);
  const url = `http://127.0.0.1:${port}/mcp`;
  const session = connect(t, http(url), new WillingUser());

  const few = [
    'echo',
    'get-tiny-image',
    'get-roots-list',
    'trigger-elicitation-request',
    'trigger-sampling-request',
    'trigger-url-elicitation',
    'trigger-long-running-operation',
    'simulate-research-query',
  ];
  for (const tool of few) {
    await t.test(`${tool} has the expected result`, async () => {
      const { args, shows } = TOOLS[tool] ?? assert.fail();
      assert.match((await session.call(tool, args)).markdown, shows);
    });
  }

  await t.test('a task requests input and continues with the answer', async () =>
    assert.match(
      await session.show('simulate-research-query', { topic: 'python', ambiguous: true }),
      /^# Research Report: python \(snake\)$/m,
    ),
  );

  await t.test('a subscription reports changes', async () => {
    const { client, show, logged } = session;
    const known = logged.next(/Received Subscribe Resource request/);
    const { promise: updated, resolve } = Promise.withResolvers<void>();
    const uri = 'demo://resource/dynamic/text/1';
    const subscription = client.subscribe({ server: SERVER, uri }, resolve);
    await known;
    await show('toggle-subscriber-updates');
    await updated;
    subscription.dispose();
  });

  await t.test('a long call ends when it is cancelled, and the server keeps running', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const options = { onProgress: () => abort.abort(reason), signal: abort.signal };
    const long = session.call('trigger-long-running-operation', { duration: 600, steps: 6000 }, options);
    await assert.rejects(long, (error) => error === reason);
    assert.match(await session.show('echo', { message: 'still here' }), /still here/);
  });
});
