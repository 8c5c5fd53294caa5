import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { serveHttp } from '../../kit/http.ts';
import { http, serve } from '../helpers/serving.ts';

/** Delay before servers answer the request for the stream of their own requests. */
const LATE_MS = 200;

type Listen = (response: ServerResponse) => void;

/** A server of the older revisions; its tool says whether it could have asked something during the call. */
async function startServer(t: TestContext, listen: Listen): Promise<string> {
  let answered = false;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') {
      setTimeout(() => {
        answered = true;
        listen(response);
      }, LATE_MS);
      return;
    }
    const { id, method, params } = (await json(request)) as {
      id?: number;
      method: string;
      params?: { protocolVersion?: string };
    };
    const results: Readonly<Record<string, unknown>> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'late', version: '1' },
      },
      'tools/list': { tools: [{ name: 'listening', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: String(answered) }] },
    };
    const error = { code: -32601, message: 'Method not found' };
    const body = { jsonrpc: '2.0', id, ...(results[method] ? { result: results[method] } : { error }) };
    response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' });
    response.end(id === undefined ? '' : JSON.stringify(body));
  };
  return serveHttp(t, (request, response) => void answer(request, response));
}

describe('a tool is called only when its server can ask something meanwhile', () => {
  const CASES: readonly (readonly [what: string, listen: Listen, told: string])[] = [
    [
      'on the stream that it opens late',
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
      'true',
    ],
    ['or has said that it never will', (response) => response.writeHead(405).end(), 'true'],
  ];
  for (const [what, listen, told] of CASES) {
    test(what, async (t) => {
      const url = await startServer(t, listen);
      const { text } = serve(t, { late: http(url) });
      assert.equal(await text('late.listening'), told);
    });
  }

  test('but one that answers nothing is not waited for for ever', async (t) => {
    const url = await startServer(t, () => {});
    const { text } = serve(t, { late: http(url) });
    assert.match(await text('late.listening'), /^(true|false)$/);
  });
});
