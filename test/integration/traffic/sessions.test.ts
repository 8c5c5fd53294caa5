/** Sessions over HTTP that the server ends while they are in use. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { textResult } from '../helpers/legacySite.ts';
import { firstText, serve } from '../helpers/serving.ts';
import { type Handler, serveSite } from './site.ts';

/** A server that answers every request of a session that it has forgotten with status 404. */
async function serveForgetful(t: TestContext) {
  const held = Promise.withResolvers<void>();
  let sessions = 0;
  let current = '';
  const inSession =
    (answer: () => unknown): Handler =>
    (_params, { request, response }) => {
      if (request.headers['mcp-session-id'] === current) return answer();
      response.writeHead(404).end();
      return 'taken';
    };
  const site = await serveSite(t, {
    tools: [{ name: 'ping' }],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    on: {
      initialize: (_params, { response }) => {
        sessions += 1;
        current = `session-${sessions}`;
        response.setHeader('mcp-session-id', current);
        return undefined;
      },
      'tools/list': inSession(() => undefined),
      'tools/call': (params, exchange) => {
        if (params['name'] !== 'hold') return inSession(() => textResult(current))(params, exchange);
        held.resolve();
        return 'taken';
      },
      'resources/read': inSession(() => ({ contents: [{ uri: 'a:b', text: current }] })),
      'prompts/list': inSession(() => ({ prompts: [{ name: current }] })),
    },
  });
  const forget = () => {
    current = 'none';
  };
  return { ...site, forget, sessions: () => sessions, held: held.promise };
}

describe('a session that has expired', () => {
  test('is replaced by a new one, in which requests that only read are repeated', async (t) => {
    const { config, forget, sessions } = await serveForgetful(t);
    const { client, text } = serve(t, { web: config });
    assert.equal(await text('web.ping'), 'session-1');
    forget();
    const { tools, failures } = await client.listTools('web');
    assert.deepEqual([tools.map(({ tool }) => tool), failures], [['ping'], []]);
    forget();
    const [read] = await client.fetchResource({ server: 'web', uri: 'a:b' }, { maxBytes: 1000 });
    assert.equal(read?.data, 'session-3');
    forget();
    const { prompts } = await client.listPrompts('web');
    assert.deepEqual(prompts[0]?.prompt, 'session-4');
    assert.equal(sessions(), 4);
  });

  test('fails a tool call, which is not repeated; the next call has a new session at once', async (t) => {
    const { config, forget, methods } = await serveForgetful(t);
    const { call, client } = serve(t, { web: config });
    assert.equal(firstText(await call('web.ping')), 'session-1');
    // More often than a server may fail without a delay.
    for (const session of [2, 3, 4]) {
      forget();
      const before = methods().length;
      await assert.rejects(call('web.ping'), {
        message:
          'Tool ping of server web failed: the server has ended the session, so it did not accept the request. Try again; a new session is started.',
      });
      assert.deepEqual(methods().slice(before), ['tools/call'], 'the call was sent once');
      assert.equal((await client.states()).get('web')?.kind, 'idle');
      assert.equal(firstText(await call('web.ping')), `session-${session}`);
    }
  });

  test('ends a call that was accepted before, without the claim that it was not', async (t) => {
    const { config, forget, held } = await serveForgetful(t);
    const { call } = serve(t, { web: config });
    const pending = assert.rejects(call('web.hold'), {
      message: 'Tool hold of server web failed: the server ended the session before the response arrived.',
    });
    await held;
    forget();
    await assert.rejects(call('web.ping'), /it did not accept the request/);
    await pending;
  });

  test('is not replaced twice for one request', async (t) => {
    const failing = await serveSite(t, {
      tools: [],
      on: {
        initialize: (_params, { response }) => void response.setHeader('mcp-session-id', 'gone'),
        'tools/list': (_params, { response }) => {
          response.writeHead(404).end();
          return 'taken';
        },
      },
    });
    const { client } = serve(t, { web: failing.config });
    const { failures } = await client.listTools('web');
    assert.match(failures[0]?.reason ?? '', /the server has ended the session/);
    assert.deepEqual(failing.methods(), ['tools/list', 'tools/list']);
  });
});
