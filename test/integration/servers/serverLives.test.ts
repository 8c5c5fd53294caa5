/** What becomes of servers, and of what they ask, when somebody stops, changes or removes something. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { InMemoryProtocols } from '../../../src/mcp/connection/knownProtocols.ts';
import { Connections, type ConnectionsOptions } from '../../../src/mcp/pool/connections.ts';
import type { ElicitationAnswer } from '../../../src/ports/servers.ts';
import { firstText, fromNpm, isAlive, scripted } from '../helpers/serving.ts';

const EVERYTHING = '@modelcontextprotocol/server-everything';

function connect(
  t: TestContext,
  servers: Map<string, ServerConfig>,
  options: Partial<ConnectionsOptions> = {},
) {
  const logged: string[] = [];
  const write = (line: string) => logged.push(line);
  const connections = new Connections({
    servers: async () => servers,
    log: { info: write, warn: write, error: write },
    timeoutMs: () => 60_000,
    clientInfo: { name: 'test', version: '1' },
    ...options,
  });
  t.after(() => connections.dispose());
  const call = (server: string, tool: string, signal?: AbortSignal) =>
    connections.callTool({ id: 'c1', server, tool, arguments: {} }, { signal });
  return { connections, call, logged };
}

describe('a question of a server', () => {
  test('is given up with the call that it belongs to, and the clock runs again', async (t) => {
    const asked = Promise.withResolvers<AbortSignal>();
    let timeoutMs = 60_000;
    const { call } = connect(t, new Map([['all', fromNpm(EVERYTHING)]]), {
      timeoutMs: () => timeoutMs,
      requests: {
        elicit: (_request, _by, signal) => {
          asked.resolve(signal);
          // As a dialog that nobody answers.
          return new Promise<ElicitationAnswer>(() => {});
        },
      },
    });
    const stop = new AbortController();
    const pending = call('all', 'trigger-elicitation-request', stop.signal);
    const signal = await asked.promise;
    stop.abort(new Error('stopped'));
    await assert.rejects(pending, /^Error: stopped$/);
    assert.equal(signal.aborted, true);
    timeoutMs = 300;
    await assert.rejects(
      call('all', 'trigger-long-running-operation'),
      /there was no answer for 0\.3 s/,
      'no clock stands still for a question that nobody wants an answer to',
    );
  });
});

describe('a call', () => {
  test('is not made again because of a code that means something only over HTTP', async (t) => {
    const { call } = connect(t, new Map([['a', scripted()]]));
    await assert.rejects(call('a', 'mismatch'), /the row is there already/);
    assert.equal(firstText(await call('a', 'mismatches')), '1');
  });

  test('that is refused with a status of its own ends no other', async (t) => {
    const site = await startSite(t);
    const { call } = connect(t, new Map<string, ServerConfig>([['web', http(site.url)]]));
    const slow = call('web', 'slow');
    await site.waiting;
    await assert.rejects(call('web', 'tooLarge'), /HTTP status 413/);
    site.release();
    assert.equal(firstText(await slow), 'slow');
  });
});

describe('a server', () => {
  test('that is no longer configured is closed, though nobody uses another', async (t) => {
    const servers = new Map<string, ServerConfig>([['a', scripted()]]);
    const { connections, call } = connect(t, servers);
    const pid = Number(firstText(await call('a', 'pid')));
    servers.delete('a');
    await connections.settle();
    await connections.dispose();
    assert.equal(isAlive(pid), false);
  });

  test('that is still as it was goes on', async (t) => {
    const { connections, call } = connect(t, new Map([['a', scripted()]]));
    const before = firstText(await call('a', 'pid'));
    await connections.settle();
    assert.equal(firstText(await call('a', 'pid')), before);
  });

  test('is stopped without waiting for another that does not end', async (t) => {
    const { connections, call } = connect(
      t,
      new Map([
        ['a', scripted()],
        ['b', scripted('stubborn')],
      ]),
    );
    await call('a', 'pid');
    await call('b', 'pid');
    const order: string[] = [];
    const stubborn = connections.stop('b').then(() => order.push('b'));
    await connections.stop('a').then(() => order.push('a'));
    await stubborn;
    assert.deepEqual(order, ['a', 'b']);
  });

  test('of which something else was known is asked anew, in the same try', async (t) => {
    const site = await startSite(t);
    const knownProtocols = new InMemoryProtocols();
    // It was reached over events once.
    const { call } = connect(t, new Map<string, ServerConfig>([['web', http(site.url)]]), {
      knownProtocols: {
        read: (print) => knownProtocols.read(print) ?? (site.isKnown ? undefined : SSE_ONCE),
        write: (print, known) => {
          site.isKnown = true;
          knownProtocols.write(print, known);
        },
      },
    });
    assert.equal(firstText(await call('web', 'ping')), 'ping');
  });
});

test('a secret is in no message, wherever the server or its address has it', async (t) => {
  const secret = 'TOPSECRETVALUE123';
  const process: ServerConfig = { ...scripted('plain'), args: [...scripted('plain').args, secret] };
  const servers = new Map<string, ServerConfig>([
    ['local', process],
    ['web', http(`http://127.0.0.1:9/s/${secret}/mcp`)],
  ]);
  const { call, logged } = connect(t, servers, {
    resolve: async (_server, config) => ({ config, secrets: [secret] }),
  });
  const messages = await Promise.all(
    [call('local', 'secretive'), call('web', 'ping')].map((each) =>
      each.catch((error: Error) => error.message),
    ),
  );
  assert.match(String(messages[0]), /no access with •••/);
  assert.match(String(messages[1]), /127\.0\.0\.1:9\/s\/•••\/mcp/);
  assert.ok(![...messages, ...logged].join('\n').includes(secret));
});

const SSE_ONCE = { era: 'legacy', sse: true, atMs: Date.now() } as const;

function http(url: string): ServerConfig {
  return { kind: 'http', url, headers: {} };
}

/** A server of the older revision over HTTP that holds one call and refuses another. */
async function startSite(t: TestContext) {
  const [waiting, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await read(request));
    const answer = (body: object) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'initialize') {
      return void answer({
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: {},
          serverInfo: { name: 's', version: '1' },
        },
      });
    }
    if (method !== 'tools/call') return void answer({ error: { code: -32601, message: 'Method not found' } });
    if (params.name === 'tooLarge') return void response.writeHead(413).end();
    if (params.name === 'slow') {
      waiting.resolve();
      await released.promise;
    }
    answer({ result: { content: [{ type: 'text', text: params.name }] } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, waiting: waiting.promise, release: () => released.resolve(), isKnown: false };
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
