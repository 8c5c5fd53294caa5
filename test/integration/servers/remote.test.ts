import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { serveHttp } from '../../kit/http.ts';
import { serveLegacy, textResult } from '../helpers/legacySite.ts';
import { firstText, freePort, fromNpm, http, serve, startAndAwait, startHttp } from '../helpers/serving.ts';

describe('a server over Streamable HTTP', () => {
  test('is listed and called, with the configured headers', async (t) => {
    const { url } = await startHttp(t);
    const { client, text } = serve(t, { web: http(url, { 'X-Key': 'k1' }) });
    const { tools, failures } = await client.listTools();
    assert.deepEqual(failures, []);
    assert.ok(tools.some(({ tool }) => tool === 'headers'));
    assert.equal(JSON.parse(await text('web.headers'))['x-key'], 'k1');
  });

  test('is notified when a call is cancelled, and keeps working', async (t) => {
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

  test('may end the stream of a cancelled call without a response, which affects nothing else', async (t) => {
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

  test('that ends the stream of a call without a response ends the call', async (t) => {
    const { call, text } = serve(t, { web: http((await startScripted(t)).url) });
    await assert.rejects(call('web.drop'), /the connection was lost before the response arrived/);
    assert.equal(await text('web.ping'), 'session 2');
  });

  test('that closes a connection once gets the request again, but no tool is called twice', async (t) => {
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

  test('is notified of the end of the session', async (t) => {
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

  test('no server at the address', async (t) => {
    const { client } = serve(t, { web: http(`http://127.0.0.1:${await freePort()}/mcp`) });
    const { failures } = await client.listTools();
    assert.match(
      failures[0]?.reason ?? '',
      /^Server web could not be reached: no server listens at http:\/\/127\.0\.0\.1:\d+\/mcp\. Start it or correct "url"\.$/,
    );
  });

  test('a port that fetch blocks', async (t) => {
    const { client } = serve(t, { web: http('http://127.0.0.1:9/mcp?token=secret') });
    const { failures } = await client.listTools();
    assert.equal(
      failures[0]?.reason,
      'Server web could not be reached: requests to the port of http://127.0.0.1:9/mcp are not allowed. Use another port.',
    );
  });

  test('a website that is not an MCP server', async (t) => {
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>');
    });
    const { client } = serve(t, { web: http(url), old: { kind: 'sse', url, headers: {} } });
    const { failures } = await client.listTools();
    assert.match(failures[0]?.reason ?? '', /responds, but not as an MCP server/);
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

/** A server that ends the streams of its responses as no SDK does. */
async function startScripted(t: TestContext) {
  const [held, streamEnded] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<void>()];
  let sessions = 0;
  const url = await serveLegacy(t, async ({ method, params, response }) => {
    const stream = () => response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (method === 'initialize') sessions++;
    if (params?.name === 'ping') return textResult(`session ${sessions}`);
    if (method === 'notifications/cancelled') {
      (await held.promise).on('close', streamEnded.resolve).end();
      return undefined;
    }
    if (method === 'server/discover' || params?.name === 'drop') stream().end();
    else if (method === 'tools/call') {
      stream().flushHeaders();
      held.resolve(response);
    } else return undefined;
    return 'taken';
  });
  return { url, held: held.promise, streamEnded: streamEnded.promise };
}

/** A server that closes the connection at the first message of each method. */
async function startBreaking(t: TestContext): Promise<{ readonly url: string; readonly heard: string[] }> {
  const heard: string[] = [];
  const url = await serveLegacy(t, ({ method, request }) => {
    if (method === 'GET') return undefined;
    heard.push(method);
    if (heard.indexOf(method) === heard.length - 1) {
      request.socket.destroy();
      return 'taken';
    }
    return method === 'tools/list'
      ? { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] }
      : undefined;
  });
  return { url, heard };
}
