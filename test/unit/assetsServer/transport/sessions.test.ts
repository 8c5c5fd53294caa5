import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { McpServer } from '@modelcontextprotocol/server';
import { HttpSessions, type SessionOptions } from '../../../../src/assetsServer/transport/sessions.ts';

const IDLE_MS = 1000;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const PING = { jsonrpc: '2.0', id: 2, method: 'ping' };

function createSessions(t: TestContext, options: Partial<SessionOptions> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let ended = 0;
  const sessions = new HttpSessions({
    idleMs: IDLE_MS,
    connect: async (transport) => {
      const server = new McpServer({ name: 'test', version: '1' });
      server.server.onclose = () => {
        ended += 1;
      };
      await server.connect(transport);
      return server;
    },
    ...options,
  });
  t.after(() => sessions.dispose());
  const ask = (body: object | undefined, session?: string, signal?: AbortSignal) =>
    sessions.answer(
      new Request('http://127.0.0.1/mcp', {
        method: body ? 'POST' : 'GET',
        headers: {
          accept: body ? 'application/json, text/event-stream' : 'text/event-stream',
          'content-type': 'application/json',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        ...(signal ? { signal } : {}),
      }),
      body,
    );
  const open = async () => {
    const { headers } = await ask(INITIALIZE);
    t.mock.timers.tick(1);
    return headers.get('mcp-session-id') ?? assert.fail('no session');
  };
  return { sessions, ask, open, ended: () => ended };
}

describe('sessions of clients before revision 2026', () => {
  it('expire when they are idle', async (t) => {
    const { sessions, ask, open, ended } = createSessions(t);
    const id = await open();
    t.mock.timers.tick(IDLE_MS - 10);
    assert.equal((await ask(PING, id)).status, 200);
    t.mock.timers.tick(IDLE_MS - 10);
    assert.equal(sessions.size, 1);
    t.mock.timers.tick(10);
    assert.equal(sessions.size, 0);
    assert.equal(ended(), 1);
    assert.equal((await ask(PING, id)).status, 404);
  });

  it('stay while a stream waits for changes, and only one can', async (t) => {
    const { sessions, ask, open } = createSessions(t);
    const id = await open();
    const gone = new AbortController();
    assert.equal((await ask(undefined, id, gone.signal)).status, 200);
    assert.equal((await ask(undefined, id)).status, 409);
    t.mock.timers.tick(IDLE_MS * 100);
    assert.equal(sessions.size, 1);
    gone.abort();
    t.mock.timers.tick(IDLE_MS);
    assert.equal(sessions.size, 0);
  });

  it('are limited: the least recently used one is dropped first', async (t) => {
    const { sessions, ask, open, ended } = createSessions(t, { maxSessions: 2 });
    const [first, second] = [await open(), await open()];
    assert.equal((await ask(PING, first)).status, 200);
    t.mock.timers.tick(1);
    await open();
    assert.equal(sessions.size, 2);
    assert.equal(ended(), 1);
    assert.equal((await ask(PING, first)).status, 200);
    assert.equal((await ask(PING, second)).status, 404);
  });
});
