/** Protocol negotiation with servers of all revisions, and the protocols remembered for the next start. */

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { InMemoryProtocols } from '../../../src/mcp/connection/knownProtocols.ts';
import type { ClientOptions } from '../../../src/mcpClient.ts';
import type { ElicitationAnswer } from '../../../src/ports/servers.ts';
import { serveHttp } from '../../kit/http.ts';
import { eraServer } from '../helpers/eraServer.ts';
import { legacyResult, type Message, serveLegacy } from '../helpers/legacySite.ts';
import { http, serve, TIMEOUT_MS } from '../helpers/serving.ts';

const CALL = { id: 'c1', server: 's', tool: 'mixed', arguments: {} };

describe('a server over stdio', () => {
  const GREETING = ['start', 'server/discover', 'initialize', 'notifications/initialized'];
  const KNOWN = ['start', 'initialize', 'notifications/initialized'];

  test('of an older revision is probed once, and gets the older handshake from then on', async (t) => {
    const { config, heard } = eraServer(t, 'legacy');
    const knownProtocols = new InMemoryProtocols();
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...GREETING, 'tools/list']);
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...KNOWN, 'tools/list']);
    await list(t, config, { knownProtocols, date: () => Date.now() + 8 * 24 * 60 * 60 * 1000 });
    assert.deepEqual(heard(), [...GREETING, 'tools/list'], 'until it expires');
  });

  test('that exits at the probe gets the older handshake, and is not probed the next time', async (t) => {
    const { config, heard } = eraServer(t, 'ends');
    const knownProtocols = new InMemoryProtocols();
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), ['start', 'server/discover', ...KNOWN, 'tools/list']);
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...KNOWN, 'tools/list']);
  });

  test('that ignores the probe gets the older handshake after a while', async (t) => {
    const { config, heard } = eraServer(t, 'mute');
    const knownProtocols = new InMemoryProtocols();
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...GREETING, 'tools/list']);
    await list(t, config, { knownProtocols });
    assert.deepEqual(heard(), [...KNOWN, 'tools/list']);
  });

  describe('that is slow to start', { concurrency: true }, () => {
    const SLOW: readonly (readonly [mode: string, heard: readonly string[]])[] = [
      ['legacy', [...GREETING, 'tools/list']],
      ['mute', [...GREETING, 'tools/list']],
      ['ends', ['start', 'server/discover', ...KNOWN, 'tools/list']],
      ['modern', ['start', 'server/discover', 'initialize', 'start', 'server/discover', 'tools/list']],
    ];
    for (const [mode, expected] of SLOW) {
      test(`gets the right handshake without a warning (${mode})`, async (t) => {
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

  test('of the newer revision is ready after the probe, and its results are unchanged', async (t) => {
    const { config, heard } = eraServer(t, 'modern');
    const { client } = serve(t, { s: config });
    const { tools, failures } = await client.listTools();
    assert.deepEqual(failures, []);
    assert.deepEqual(
      tools.map(({ tool }) => tool),
      ['mixed'],
      'one bad definition does not hide the good one',
    );
    assert.deepEqual(heard(), ['start', 'server/discover', 'tools/list']);
    const state = (await client.states()).get('s');
    assert.equal(state?.kind === 'ready' && state.about.protocol, '2026-07-28');
    assert.deepEqual(await client.callToolRaw(CALL), {
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
    const read = (method: string) => client.read('s', { method, params: { uri: 'a:b', name: 'p' } });
    assert.match(JSON.stringify(await read('resources/read')), /kept.*a:c/);
    assert.match(JSON.stringify(await read('prompts/get')), /kept.*hologram/);
  });
});

describe('a server over HTTP', () => {
  test('that supports only SSE is reached by it, and at once the next time', async (t) => {
    const site = await startOldSite(t);
    const knownProtocols = new InMemoryProtocols();
    const config = http(site.url);
    await list(t, config, { knownProtocols });
    assert.ok(site.refused() > 0);
    const refused = site.refused();
    await list(t, config, { knownProtocols });
    assert.equal(site.refused(), refused);
  });

  for (const status of [500, 502, 400, 404]) {
    test(`that answers the probe with the status ${status} gets the older handshake`, async (t) => {
      const heard: string[] = [];
      const url = await serveLegacy(t, ({ method, response }) => {
        if (method !== 'GET') heard.push(method);
        if (method !== 'server/discover') return undefined;
        response.writeHead(status).end('Unknown');
        return 'taken';
      });
      const knownProtocols = new InMemoryProtocols();
      const config = http(url);
      await list(t, config, { knownProtocols });
      assert.deepEqual([...new Set(heard)], GREETED);
      heard.length = 0;
      await list(t, config, { knownProtocols });
      assert.deepEqual(heard, GREETED.slice(1), 'not probed the next time');
    });
  }
  const GREETED = ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'];
});

describe('while the user answers a question', () => {
  const ask = { ...CALL, tool: 'ask' };

  async function start(t: TestContext, mode: string) {
    const { config } = eraServer(t, mode);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<ElicitationAnswer>();
    const elicit = () => {
      asked.resolve();
      return answered.promise;
    };
    const { client } = serve(t, { s: config }, { requests: { elicit } });
    await client.listTools();
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const call = client.callToolRaw(ask);
    call.catch(() => {});
    await asked.promise;
    return {
      call,
      client,
      answer: () => answered.resolve({ action: 'accept', content: { name: 'Ada' } }),
    };
  }

  test('the timeout of the call is paused', async (t) => {
    const { call, answer: answerIt } = await start(t, 'asks');
    t.mock.timers.tick(10 * TIMEOUT_MS);
    answerIt();
    assert.match(JSON.stringify(await call), /asked/);
  });

  test('and that of a call that begins meanwhile', async (t) => {
    const { client, call, answer: answerIt } = await start(t, 'asks');
    const other = client.callToolRaw(CALL);
    t.mock.timers.tick(10 * TIMEOUT_MS);
    assert.match(JSON.stringify(await other), /first/);
    answerIt();
    await call;
  });

  test('and after the answer, the timeout starts again', async (t) => {
    const { client, call, answer: answerIt } = await start(t, 'asks and hangs');
    t.mock.timers.tick(10 * TIMEOUT_MS);
    answerIt();
    // The answer has reached the server before this call.
    await client.callToolRaw(CALL);
    t.mock.timers.tick(TIMEOUT_MS - 1);
    await client.callToolRaw(CALL);
    t.mock.timers.tick(1);
    await assert.rejects(call, /there was no response for 60 s/);
  });
});

/** A session that only lists the tools. */
async function list(t: TestContext, config: ServerConfig, options: Partial<ClientOptions>): Promise<void> {
  const { client } = serve(t, { s: config }, options);
  assert.deepEqual((await client.listTools()).failures, []);
  await client.dispose();
}

/** A site with the older HTTP+SSE transport: requests to one address, responses as events from another. */
async function startOldSite(t: TestContext): Promise<{ readonly url: string; refused(): number }> {
  let refused = 0;
  let events: ServerResponse | undefined;
  const url = await serveHttp(t, async (request, response) => {
    if (request.method === 'GET') {
      events = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /questions\n\n');
    } else if (request.url !== '/questions') {
      refused += 1;
      response.writeHead(405).end();
    } else {
      const message = (await readJson(request)) as Message;
      const [id, result] = [message.id, legacyResult(message)];
      response.writeHead(202).end();
      if (id !== undefined) events?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    }
  });
  return { url, refused: () => refused };
}
