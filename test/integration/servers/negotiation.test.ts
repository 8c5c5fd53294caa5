/** How the first words with a server go, whatever revision it is of; and what is remembered for the next time. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { InMemoryProtocols } from '../../../src/mcp/connection/knownProtocols.ts';
import type { ConnectionsOptions } from '../../../src/mcp/pool/connections.ts';
import type { ElicitationAnswer } from '../../../src/ports/servers.ts';
import { eraServer, open } from '../helpers/eraServer.ts';
import { TIMEOUT_MS } from '../helpers/serving.ts';

const CALL = { id: 'c1', server: 's', tool: 'mixed', arguments: {} };

describe('a server over stdio', () => {
  const GREETING = ['start', 'server/discover', 'initialize', 'notifications/initialized'];
  const KNOWN = ['start', 'initialize', 'notifications/initialized'];

  test('of the older revisions is asked for the newer one once, and greeted at once from then on', async (t) => {
    const { config, heard } = eraServer(t, 'legacy');
    const knownProtocols = new InMemoryProtocols();
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...GREETING, 'tools/list']);
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...KNOWN, 'tools/list']);
    await list(t, config, { knownProtocols, now: () => Date.now() + 8 * 24 * 60 * 60 * 1000 });
    assert.deepEqual(heard(), [...GREETING, 'tools/list'], 'but not for ever');
  });

  test('that ends at the question is started again in the old way, and not asked the next time', async (t) => {
    const { config, heard } = eraServer(t, 'ends');
    const knownProtocols = new InMemoryProtocols();
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), ['start', 'server/discover', ...KNOWN, 'tools/list']);
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...KNOWN, 'tools/list']);
  });

  test('that says nothing to the question is greeted in the old way by and by', async (t) => {
    const { config, heard } = eraServer(t, 'mute');
    const knownProtocols = new InMemoryProtocols();
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...GREETING, 'tools/list']);
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...KNOWN, 'tools/list']);
  });

  describe('that is slow to start', () => {
    const SLOW: readonly (readonly [mode: string, heard: readonly string[]])[] = [
      ['legacy', [...GREETING, 'tools/list']],
      ['mute', [...GREETING, 'tools/list']],
      ['ends', ['start', 'server/discover', ...KNOWN, 'tools/list']],
      ['modern', ['start', 'server/discover', 'initialize', 'start', 'server/discover', 'tools/list']],
    ];
    for (const [mode, expected] of SLOW) {
      test(`is greeted as it wants, and nobody is told (${mode})`, async (t) => {
        const { config, heard } = eraServer(t, mode);
        const logged: string[] = [];
        const log = { info: () => {}, warn: (line: string) => logged.push(line), error: () => {} };
        await list(t, { ...config, env: { SLOW: '1' } }, { log });
        assert.deepEqual(heard(), expected);
        assert.deepEqual(
          logged.filter((line) => !line.includes('has no name')),
          [],
        );
      });
    }
  });

  test('of the newer revision is ready after one question, and loses nothing of what it sends', async (t) => {
    const { config, heard } = eraServer(t, 'modern');
    const connections = open(t, config);
    const { tools, failures } = await connections.listTools();
    assert.deepEqual(failures, []);
    assert.deepEqual(
      tools.map(({ tool }) => tool),
      ['mixed'],
      'one bad definition does not hide the good one',
    );
    assert.deepEqual(heard(), ['start', 'server/discover', 'tools/list']);
    const state = (await connections.states()).get('s');
    assert.equal(state?.kind === 'ready' && state.about.protocol, '2026-07-28');
    assert.deepEqual(await connections.callTool(CALL), {
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      content: [
        { type: 'text', text: 'first' },
        { type: 'hologram', depth: 3 },
        { type: 'image', data: '!!!!', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'a:b' },
        { type: 'text', text: 'last' },
      ],
      structuredContent: { a: 1 },
      extra: true,
    });
    const read = (method: string) => connections.read('s', { method, params: { uri: 'a:b', name: 'p' } });
    assert.match(JSON.stringify(await read('resources/read')), /kept.*a:c/);
    assert.match(JSON.stringify(await read('prompts/get')), /kept.*hologram/);
  });
});

describe('a server over HTTP', () => {
  test('that knows only events is reached by them, and at once the next time', async (t) => {
    const site = await startOldSite(t);
    const knownProtocols = new InMemoryProtocols();
    const config: ServerConfig = { kind: 'http', url: site.url, headers: {} };
    await list(t, config, { knownProtocols });
    assert.ok(site.refused() > 0);
    const refused = site.refused();
    await list(t, config, { knownProtocols });
    assert.equal(site.refused(), refused);
  });

  for (const status of [500, 502, 400, 404]) {
    test(`that answers the question with the status ${status} is greeted in the old way`, async (t) => {
      const heard: string[] = [];
      const url = await startSite(t, async (request, response) => {
        if (request.method !== 'POST') return void response.writeHead(405).end();
        const message = (await readJson(request)) as Message;
        heard.push(message.method);
        const known = LEGACY[message.method];
        if (message.method === 'server/discover') response.writeHead(status).end('What?');
        else if (known === undefined) response.writeHead(202).end();
        else answer(response, message, known(message.params));
      });
      const knownProtocols = new InMemoryProtocols();
      const config: ServerConfig = { kind: 'http', url, headers: {} };
      await list(t, config, { knownProtocols });
      assert.deepEqual([...new Set(heard)], GREETED);
      heard.length = 0;
      await list(t, config, { knownProtocols });
      assert.deepEqual(heard, GREETED.slice(1), 'and not asked the next time');
    });
  }
  const GREETED = ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'];
});

describe('while a person is asked', () => {
  const ask = { ...CALL, tool: 'ask' };

  async function start(t: TestContext, mode: string) {
    const { config } = eraServer(t, mode);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<ElicitationAnswer>();
    const elicit = () => {
      asked.resolve();
      return answered.promise;
    };
    const connections = open(t, config, { requests: { elicit } });
    await connections.listTools();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const call = connections.callTool(ask);
    call.catch(() => {});
    await asked.promise;
    return {
      call,
      connections,
      answer: () => answered.resolve({ action: 'accept', content: { name: 'Ada' } }),
    };
  }

  test('no time passes for the call', async (t) => {
    const { call, answer: answerIt } = await start(t, 'asks');
    t.mock.timers.tick(10 * TIMEOUT_MS);
    answerIt();
    assert.match(JSON.stringify(await call), /asked/);
  });

  test('nor for a call that begins meanwhile', async (t) => {
    const { connections, call, answer: answerIt } = await start(t, 'asks');
    const other = connections.callTool(CALL);
    t.mock.timers.tick(10 * TIMEOUT_MS);
    assert.match(JSON.stringify(await other), /first/);
    answerIt();
    await call;
  });

  test('and when they have answered, the server has its whole time again, but no more', async (t) => {
    const { connections, call, answer: answerIt } = await start(t, 'asks and hangs');
    t.mock.timers.tick(10 * TIMEOUT_MS);
    answerIt();
    // The answer has reached the server when this has.
    await connections.callTool(CALL);
    t.mock.timers.tick(TIMEOUT_MS - 1);
    await connections.callTool(CALL);
    t.mock.timers.tick(1);
    await assert.rejects(call, /there was no answer for 60 s/);
  });
});

/** One whole session, in which only the list of tools is asked for. */
async function list(
  t: TestContext,
  config: ServerConfig,
  options: Partial<ConnectionsOptions>,
): Promise<void> {
  const connections = open(t, config, options);
  assert.deepEqual((await connections.listTools()).failures, []);
  await connections.dispose();
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const LEGACY: Readonly<Record<string, (params: Message['params']) => unknown>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'site', version: '1' },
  }),
  'tools/list': () => ({ tools: [] }),
};

function answer(response: ServerResponse, { id }: Message, result: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** A site of the time before Streamable HTTP: questions to one address, answers as events from another. */
async function startOldSite(t: TestContext): Promise<{ readonly url: string; refused(): number }> {
  let refused = 0;
  let events: ServerResponse | undefined;
  const url = await startSite(t, async (request, response) => {
    if (request.method === 'GET') {
      events = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /questions\n\n');
    } else if (request.url !== '/questions') {
      refused += 1;
      response.writeHead(405).end();
    } else {
      const { id, method, params } = (await readJson(request)) as Message;
      const result = LEGACY[method]?.(params);
      response.writeHead(202).end();
      if (id !== undefined) events?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    }
  });
  return { url, refused: () => refused };
}

async function startSite(
  t: TestContext,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
