import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { firstText, freePort, fromNpm, serve, startAndAwait, startHttp } from '../helpers/serving.ts';

const http = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  ({ kind: 'http', url, headers }) as const;

describe('a server over Streamable HTTP', () => {
  test('is listed and called, with the configured headers', async (t) => {
    const { url } = await startHttp(t);
    const { client, text } = serve(t, { web: http(url, { 'X-Key': 'k1' }) });
    const { tools, failures } = await client.listTools();
    assert.deepEqual(failures, []);
    assert.ok(tools.some(({ tool }) => tool === 'headers'));
    assert.equal(JSON.parse(await text('web.headers'))['x-key'], 'k1');
  });

  test('is told when a call is cancelled, and works on', async (t) => {
    const { url } = await startHttp(t);
    const { call, text } = serve(t, { web: http(url) });
    await text('web.ping');
    const abort = new AbortController();
    const held = call('web.hold', {}, { signal: abort.signal });
    await text('web.holding');
    abort.abort(new Error('stopped'));
    await assert.rejects(held, /^Error: stopped$/);
    assert.equal(await text('web.aborted'), 'hold');
  });

  test('may end the stream of a cancelled call in silence, which ends nothing else', async (t) => {
    const site = await startScripted(t);
    const { call, text } = serve(t, { web: http(site.url) });
    await text('web.ping');
    const abort = new AbortController();
    const held = call('web.hold', {}, { signal: abort.signal });
    await site.held;
    abort.abort(new Error('stopped'));
    await assert.rejects(held, /^Error: stopped$/);
    await site.streamEnded;
    assert.equal(await text('web.ping'), 'session 1');
  });

  test('that ends the stream of a call in silence ends the call', async (t) => {
    const { call, text } = serve(t, { web: http((await startScripted(t)).url) });
    await assert.rejects(call('web.drop'), /the connection was lost before the response arrived/);
    assert.equal(await text('web.ping'), 'session 2');
  });

  test('that breaks off once is asked again, but no tool is called twice', async (t) => {
    const site = await startBreaking(t);
    const { client, call } = serve(t, { web: http(site.url) });
    assert.deepEqual((await client.listTools()).failures, []);
    await assert.rejects(call('web.ping'), /\/mcp closed the connection\. See the server's log/);
    const asked = ['server/discover', 'initialize', 'notifications/initialized', 'tools/list', 'tools/call'];
    assert.deepEqual(
      asked.map((method) => site.heard.filter((each) => each === method).length),
      [2, 2, 2, 2, 1],
    );
  });

  test('that dies during a call ends the call, and not only after its timeout', async (t) => {
    const { url, process: server } = await startHttp(t);
    const { call } = serve(t, { web: http(url) });
    const ended = assert.rejects(
      call('web.hold'),
      /^Error: Tool hold of server web failed: the connection was lost before the response arrived\.$/,
    );
    await call('web.holding');
    server.kill('SIGKILL');
    await ended;
    await assert.rejects(
      call('web.ping'),
      /Server web could not be reached: (no server listens at http:|http:.* closed the connection)/,
    );
  });

  test('that forgot the session fails one call, and the next one has a new session', async (t) => {
    const { url } = await startHttp(t);
    const { call, text } = serve(t, { web: http(url) });
    assert.equal(await text('web.forget'), 'forgotten');
    await assert.rejects(call('web.ping'), /HTTP status 404.*the session has ended/);
    assert.equal(await text('web.ping'), 'pong');
  });

  test('is told the end of the session', async (t) => {
    const { url } = await startHttp(t);
    const first = serve(t, { web: http(url) });
    await first.text('web.ping');
    await first.client.dispose();
    const second = serve(t, { web: http(url) });
    assert.equal(JSON.parse(await second.text('web.ended')).length, 1);
  });
});

describe('an address that does not work is explained', () => {
  const cases: readonly [string, (url: string) => ReturnType<typeof http>, RegExp][] = [
    ['wrong path', (url) => http(`${url}/nothing?token=secret`), /HTTP status 404\. The path does not exist/],
    [
      'wrong credentials',
      (url) => http(url, { Authorization: 'Bearer wrong' }),
      /HTTP status 401\. It requires credentials/,
    ],
  ];
  for (const [name, config, expected] of cases) {
    test(name, async (t) => {
      const { url } = await startHttp(t);
      const { client } = serve(t, { web: config(url) });
      const { failures } = await client.listTools();
      assert.match(failures[0]?.reason ?? '', expected);
      assert.doesNotMatch(failures[0]?.reason ?? '', /secret/);
    });
  }

  test('nobody there', async (t) => {
    const { client } = serve(t, { web: http(`http://127.0.0.1:${await freePort()}/mcp`) });
    const { failures } = await client.listTools();
    assert.match(
      failures[0]?.reason ?? '',
      /^Server web could not be reached: no server listens at http:\/\/127\.0\.0\.1:\d+\/mcp\. Start it or correct "url"\.$/,
    );
  });

  test('a port that is never asked', async (t) => {
    const { client } = serve(t, { web: http('http://127.0.0.1:9/mcp?token=secret') });
    const { failures } = await client.listTools();
    assert.equal(
      failures[0]?.reason,
      'Server web could not be reached: the request to http://127.0.0.1:9/mcp failed: bad port.',
    );
  });

  test('a web site that is no MCP server', async (t) => {
    const url = await startSite(t);
    const { client } = serve(t, { web: http(url), old: { kind: 'sse', url, headers: {} } });
    const { failures } = await client.listTools();
    assert.match(failures[0]?.reason ?? '', /answers, but not as an MCP server/);
    assert.equal(failures.length, 2);
  });
});

describe('a server of the older protocol, over events', () => {
  const start = async (t: TestContext) => {
    const port = await freePort();
    const config = fromNpm('@modelcontextprotocol/server-everything', 'sse');
    const child = await startAndAwait(t, { ...config, env: { PORT: String(port) } }, /port/);
    return { child, ...serve(t, { old: { kind: 'sse', url: `http://127.0.0.1:${port}/sse`, headers: {} } }) };
  };

  test('is listed and called', async (t) => {
    const { client, call } = await start(t);
    assert.deepEqual((await client.listTools()).failures, []);
    assert.equal(firstText(await call('old.echo', { message: 'hi' })), 'Echo: hi');
  });

  test('that dies during a call ends the call', async (t) => {
    const { child, call } = await start(t);
    const long = { duration: 600, steps: 60_000 };
    const held = call('old.trigger-long-running-operation', long, {
      onProgress: () => child.kill('SIGKILL'),
    });
    await assert.rejects(held, /failed: the event stream broke\.$/);
  });
});

/** Answers everything with a page. */
function startSite(t: TestContext): Promise<string> {
  return listen(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
  });
}

/** A server that ends the streams of its answers as no SDK would. */
async function startScripted(t: TestContext) {
  const [held, streamEnded] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<void>()];
  let sessions = 0;
  const url = await listen(t, async (request, response) => {
    const { id, method, params } =
      request.method === 'POST' ? ((await readJson(request)) as Message) : { method: 'stream' };
    const reply = (result: unknown) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    if (method === 'server/discover') {
      // In silence, as everything here.
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
    } else if (method === 'initialize') {
      sessions++;
      reply({ ...params, capabilities: {}, serverInfo: { name: 's', version: '1' } });
    } else if (method === 'tools/list') {
      reply({ tools: [] });
    } else if (params?.['name'] === 'ping') {
      reply({ content: [{ type: 'text', text: `session ${sessions}` }] });
    } else if (method === 'tools/call') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      params?.['name'] === 'drop' ? response.end() : held.resolve(response);
    } else if (method === 'notifications/cancelled') {
      (await held.promise).on('close', streamEnded.resolve).end();
      response.writeHead(202).end();
    } else {
      response.writeHead(method === 'stream' ? 405 : 202).end();
    }
  });
  return { url, held: held.promise, streamEnded: streamEnded.promise };
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

async function listen(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<string> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A server of the older revisions that breaks off the first time it hears anything. */
async function startBreaking(t: TestContext): Promise<{ readonly url: string; readonly heard: string[] }> {
  const heard: string[] = [];
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'breaking', version: '1' },
    },
    'tools/list': { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = (await readJson(request)) as { id?: unknown; method: string };
    heard.push(method);
    if (heard.indexOf(method) === heard.length - 1) return void request.socket.destroy();
    if (id === undefined) return void response.writeHead(202).end();
    const error = { code: -32601, message: 'Method not found' };
    const body = { jsonrpc: '2.0', id, ...(results[method] ? { result: results[method] } : { error }) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, heard };
}
