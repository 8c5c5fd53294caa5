/** A server that names addresses of this machine and its network in the metadata of its sign-in. */

import assert from 'node:assert/strict';
import type { lookup as systemLookup } from 'node:dns';
import { describe, test } from 'node:test';
import { RemoteAuthorization } from '../../../src/mcp/oauth/authorization.ts';
import { createConfinedFetch } from '../../../src/mcp/oauth/confinedFetch.ts';
import { serveHttp } from '../../kit/http.ts';
import { MemoryStore, ScriptedBrowser } from '../../unit/mcp/oauth/parts.ts';

/** DNS that gives one answer after the other. */
function resolving(...answers: readonly string[]) {
  const asked: string[] = [];
  const lookup = ((name: string, _: unknown, callback: (error: null, found: object[]) => void) => {
    const address = answers[Math.min(asked.length, answers.length - 1)] ?? '';
    asked.push(name);
    setImmediate(() => callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]));
  }) as unknown as typeof systemLookup;
  return { asked, lookup };
}

/** Counts the requests that reach this machine. */
async function startCanary(t: Parameters<typeof serveHttp>[0]) {
  const requests: string[] = [];
  const url = await serveHttp(t, ({ method, url: path, headers }, response) => {
    requests.push(`${method} ${path} ${headers['content-type'] ?? ''}`.trim());
    response.setHeader('content-type', 'application/json').end('{}');
  });
  return { requests, url, port: new URL(url).port };
}

const NEAR =
  /is not allowed: it resolves to (?:this machine|the local network), but the server is not there\.?$/;

describe('a response to the sign-in that is not valid fails it alone', () => {
  for (const [what, status, headers] of [
    ['a status that no response can have', 999, {}],
    ['another protocol', 101, { connection: 'upgrade', upgrade: 'x' }],
  ] as const) {
    test(what, async (t) => {
      const url = await serveHttp(t, (_, response) => response.writeHead(status, headers).end());
      await assert.rejects(createConfinedFetch(url)(`${url}/token`), /status|closed/);
    });
  }
});

describe('the metadata of a server on the internet lead to', () => {
  test('no address of this machine', async (t) => {
    const { requests, port } = await startCanary(t);
    const confined = createConfinedFetch('https://203.0.113.9/mcp');
    for (const host of [
      '127.0.0.1',
      '127.9.9.9',
      '2130706433',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[::7f00:1]',
      '[::ffff:0:7f00:1]',
    ])
      await assert.rejects(confined(`http://${host}:${port}/`, { method: 'POST', body: 'x' }), NEAR, host);
    assert.deepEqual(requests, []);
  });

  for (const address of [
    '10.1.2.3',
    '172.31.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '[fd12::1]',
    '[2002:a00:1::]',
    '[::a00:1]',
    '[64:ff9b:1::808:808]',
    '[fec0::1]',
    '255.255.255.255',
  ]) {
    test(`no address of the local network: ${address}`, async () => {
      const confined = createConfinedFetch('https://203.0.113.9/mcp');
      await assert.rejects(confined(`https://${address}/`), NEAR);
    });
  }

  test('no name that leads there', async (t) => {
    const { requests, port } = await startCanary(t);
    const { lookup, asked } = resolving('127.0.0.1');
    const confined = createConfinedFetch('https://203.0.113.9/mcp', lookup);
    await assert.rejects(confined(`http://auth.example:${port}/token`), NEAR);
    assert.ok(asked.every((name) => name === 'auth.example'));
    assert.deepEqual(requests, []);
  });

  test('no name that leads there at the second look', async (t) => {
    const { requests, port } = await startCanary(t);
    // The first answer fails to connect; whatever is asked later is checked again.
    const { lookup } = resolving('127.0.0.1', '::1', '10.0.0.1');
    const confined = createConfinedFetch('https://203.0.113.9/mcp', lookup);
    await assert.rejects(confined(`http://auth.example:${port}/`), NEAR);
    await assert.rejects(confined(`http://auth.example:${port}/`), NEAR);
    assert.deepEqual(requests, []);
  });

  test('nothing near, even if DNS says that the server itself is here: nothing answers for it', async (t) => {
    const { requests, port } = await startCanary(t);
    const { lookup, asked } = resolving('127.0.0.1');
    const confined = createConfinedFetch('https://mcp.example:1/mcp', lookup);
    await assert.rejects(confined(`http://localhost:${port}/`), NEAR);
    assert.ok(asked.includes('mcp.example'));
    assert.deepEqual(requests, []);
  });

  test('no credentials of the machine, by any name', async () => {
    const { lookup } = resolving('169.254.169.254');
    const confined = createConfinedFetch('http://127.0.0.1:1/mcp', lookup);
    await assert.rejects(confined('https://auth.example/'), NEAR);
  });
});

test('a sign-in to a server on the internet sends nothing to this machine, and asks nothing', async (t) => {
  const { requests, url } = await startCanary(t);
  const browser = new ScriptedBrowser(fetch);
  const authorization = new RemoteAuthorization({
    server: 'far',
    serverUrl: 'https://203.0.113.9/mcp',
    store: new MemoryStore(),
    browser,
  });
  const challenge = `Bearer resource_metadata="${url}/metadata"`;
  const response = new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
  const context = { response, serverUrl: new URL('https://203.0.113.9/mcp'), fetchFn: fetch };
  await assert.rejects(authorization.provider.onUnauthorized?.(context) ?? Promise.resolve(), NEAR);
  assert.deepEqual(requests, []);
  assert.deepEqual(browser.visits, []);
});

test('a server on this machine may have its authorization server here, too', async (t) => {
  const { requests, url } = await startCanary(t);
  const confined = createConfinedFetch('http://localhost:1/mcp');
  const body = new URLSearchParams({ a: '1' });
  assert.deepEqual(await (await confined(`${url}/token`, { method: 'POST', body })).json(), {});
  assert.deepEqual(requests, ['POST /token application/x-www-form-urlencoded;charset=UTF-8']);
});

test('a redirect is not followed', async (t) => {
  const { requests, url } = await startCanary(t);
  const lure = await serveHttp(t, (_, response) => response.writeHead(302, { location: url }).end());
  const response = await createConfinedFetch('http://localhost:1/mcp')(lure);
  assert.equal(response.status, 302);
  assert.deepEqual(requests, []);
});
