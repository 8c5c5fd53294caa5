import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type Answer, canPostLocally, postLocally } from '../../../../src/mcp/spill/localPost.ts';
import { serveHttp } from '../../../kit/http.ts';

const POST = { method: 'POST', body: '{"a":1}', headers: { authorization: 'Bearer key', 'x-own': 'yes' } };

describe('a request to this machine', () => {
  test('is sent like one of fetch', async (t) => {
    const url = await serveHttp(t, async (request, response) => {
      const { method, headers } = request;
      const seen = [
        method,
        headers.authorization,
        headers['x-own'],
        headers['content-length'],
        await text(request),
      ];
      response.writeHead(200, { 'set-cookie': ['a', 'b'], 'x-own': 'back' }).end(JSON.stringify(seen));
    });
    const answer = await postLocally(new URL('/path?query', url), POST);
    assert.equal(await read(answer), '["POST","Bearer key","yes","7","{\\"a\\":1}"]');
    assert.equal(answer.response.status, 200);
    assert.equal(answer.response.url, `${new URL('/path?query', url)}`);
    assert.equal(answer.response.headers.get('x-own'), 'back');
    assert.deepEqual(answer.response.headers.getSetCookie(), ['a', 'b']);
  });

  for (const [name, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const) {
    test(`may be answered with ${name}`, async (t) => {
      const url = await serveHttp(t, (_, response) => {
        response.writeHead(200, { 'content-encoding': name }).end(compress('text'.repeat(100_000)));
      });
      assert.equal(await read(await postLocally(new URL(url), POST)), 'text'.repeat(100_000));
    });
  }

  test('may be answered without a body', async (t) => {
    const url = await serveHttp(t, (_, response) => response.writeHead(204).end());
    const { response, body } = await postLocally(new URL(url), POST);
    assert.deepEqual([response.status, body], [204, undefined]);
  });

  test('is not sent again for a redirect', async (t) => {
    const asked: (string | undefined)[] = [];
    const other = await serveHttp(t, (request, response) => response.end(String(asked.push(request.method))));
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await serveHttp(t, (_, response) =>
        response.writeHead(status, { location: other }).end('see'),
      );
      const answer = await postLocally(new URL(url), POST);
      assert.equal(answer.response.status, status);
      assert.equal(await read(answer), 'see');
    }
    assert.deepEqual(asked, []);
  });

  test('fails like fetch when nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await assert.rejects(postLocally(new URL(`http://127.0.0.1:${port}`), POST), (error: TypeError) => {
      assert.ok(error instanceof TypeError);
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'ECONNREFUSED');
      return true;
    });
  });

  test('fails when the body breaks off, after what has arrived', async (t) => {
    const url = await serveHttp(t, (_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    });
    const { body } = await postLocally(new URL(url), POST);
    assert.equal(String(Buffer.from((await body?.read())?.value ?? [])), 'half');
    await assert.rejects(async () => body?.read(), TypeError);
  });

  test('ends with the reason of its signal', async (t) => {
    const url = await serveHttp(t, (_, response) => response.writeHead(200).write('half'));
    const abort = new AbortController();
    const { body } = await postLocally(new URL(url), { ...POST, signal: abort.signal });
    await body?.read();
    const next = body?.read();
    abort.abort(new Error('stopped'));
    await assert.rejects(async () => next, /^Error: stopped$/);
    await assert.rejects(postLocally(new URL(url), { ...POST, signal: abort.signal }), /^Error: stopped$/);
  });
});

test('other requests are left to fetch', () => {
  const can = (url: string, init: RequestInit = POST) => canPostLocally(new URL(url), init);
  assert.ok(can('http://localhost:1') && can('http://127.0.0.1') && can('http://[::1]:8080/mcp'));
  assert.ok(!can('https://localhost') && !can('http://example.org') && !can('http://127.0.0.1.example.org'));
  assert.ok(!can('http://localhost', { method: 'GET' }));
  assert.ok(!can('http://localhost', { method: 'POST', body: new URLSearchParams() }));
});

async function read({ body }: Answer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = (await body?.read()) ?? { done: true };
    if (done || value === undefined) return Buffer.concat(chunks).toString();
    chunks.push(value);
  }
}
