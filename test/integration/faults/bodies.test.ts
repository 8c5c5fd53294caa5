/** Hostile HTTP bodies: a few KB that decompress to many MB, and bodies that never end. */

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BUDGET } from '../../../src/base/budget.ts';
import { guardFetch } from '../../../src/mcp/oauth/signIn.ts';
import { createSpillingFetch } from '../../../src/mcp/spill/fetch.ts';
import { PendingRequests } from '../../../src/mcp/spill/pendingRequests.ts';
import { listLocalModels, listModels } from '../../../src/model/config/listModels.ts';
import { createEndpointFetch } from '../../../src/model/providers/endpoint.ts';
import { serveHttp } from '../../kit/http.ts';
import { http, serve } from '../helpers/serving.ts';

const BOMB_BYTES = 64 * 1024 * 1024;
const BOMB = gzipSync(Buffer.alloc(BOMB_BYTES, '{'), { level: 9 });

type Send = (response: ServerResponse, status: number, type: string) => void;
const BODIES: Readonly<Record<string, Send>> = {
  'a small body that decompresses to 64 MB': (response, status, type) => {
    response.writeHead(status, { 'content-type': type, 'content-encoding': 'gzip' }).end(BOMB);
  },
  'a body without an end': (response, status, type) => {
    response.writeHead(status, { 'content-type': type });
    const piece = Buffer.alloc(1024 * 1024, '{');
    const send = () => {
      if (!response.destroyed) response.write(piece, send);
    };
    send();
  },
};
const endpoint = { provider: 'openai-compatible', name: 'm', model: 'm' } as const;

test('an event of many lines is one line for the SDK, which reads each by itself', async (t) => {
  const lines = `data: {"jsonrpc": "2.0",\n${'data:\n'.repeat(100_000)}data: "method": "x"}\n\n`;
  const url = await serveHttp(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(lines));
  });
  const response = await createSpillingFetch(new PendingRequests())(url);
  const [event = '', ...rest] = (await response.text()).split('\n');
  assert.deepEqual(JSON.parse(event.slice('data: '.length)), { jsonrpc: '2.0', method: 'x' });
  assert.deepEqual(rest, ['', '']);
});

for (const [name, send] of Object.entries(BODIES)) {
  describe(name, () => {
    for (const [status, type] of [
      [500, 'application/json'],
      [404, 'text/plain'],
      [500, 'text/event-stream'],
      [200, 'text/html'],
      [200, ''],
    ] as const) {
      test(`an MCP server that answers ${status} ${type} is read up to the budget of errors`, async (t) => {
        const url = await serveHttp(t, (_, response) => send(response, status, type));
        const response = await createSpillingFetch(new PendingRequests())(url);
        assert.equal(response.status, status);
        assert.equal((await response.text()).length, BUDGET.errorBodyBytes);
      });
    }

    test('an MCP server that answers with it fails alone, with a short reason', async (t) => {
      const url = await serveHttp(t, (_, response) => send(response, 500, 'text/plain'));
      const { client } = serve(t, { bomb: http(`${url}/mcp`) });
      const [failure] = (await client.listTools()).failures;
      assert.match(failure?.reason ?? '', /^Server bomb /);
      assert.ok((failure?.reason ?? '').length < 3000);
    });

    test('an authorization server is read up to the budget', async (t) => {
      const url = await serveHttp(t, (_, response) => send(response, 200, 'application/json'));
      const response = await guardFetch(fetch, AbortSignal.timeout(60_000))(url);
      await assert.rejects(response.json(), /^BodyTooLargeError: The response has more than 8000 values\.$/);
    });

    test('the error of a model is read up to the budget of errors', async (t) => {
      const baseUrl = await serveHttp(t, (_, response) => send(response, 500, 'application/json'));
      const endpointFetch = createEndpointFetch({
        config: { ...endpoint, baseUrl },
        fetch,
        isWhole: false,
        onBytes: () => undefined,
      });
      assert.equal((await (await endpointFetch(baseUrl)).text()).length, BUDGET.errorBodyBytes);
    });

    for (const status of [200, 500]) {
      test(`a list of models with the status ${status} is read up to the budget`, async (t) => {
        const baseUrl = await serveHttp(t, (_, response) => send(response, status, 'application/json'));
        await assert.rejects(listModels({ ...endpoint, baseUrl }, {}), /The response is larger than 8\.4 MB/);
        assert.deepEqual(await listLocalModels({ baseUrl }, { timeoutMs: 60_000 }), []);
      });
    }
  });
}
