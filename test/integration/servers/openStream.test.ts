import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { serveLegacy, textResult } from '../helpers/legacySite.ts';
import { http, serve } from '../helpers/serving.ts';

/** Delay before servers answer the request for the stream of their own requests. */
const LATE_MS = 200;

type Listen = (response: ServerResponse) => void;

/** A server whose tool returns whether it could have sent a request during the call. */
function startServer(t: TestContext, listen: Listen): Promise<string> {
  let answered = false;
  return serveLegacy(t, ({ method, response }) => {
    if (method === 'tools/call') return textResult(answered);
    if (method !== 'GET') return undefined;
    setTimeout(() => {
      answered = true;
      listen(response);
    }, LATE_MS);
    return 'taken';
  });
}

describe('a tool is called only when its server can send requests meanwhile', () => {
  const CASES: readonly (readonly [what: string, listen: Listen, told: string])[] = [
    [
      'on the stream that it opens late',
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
      'true',
    ],
    ['or has refused to open it', (response) => response.writeHead(405).end(), 'true'],
  ];
  for (const [what, listen, told] of CASES) {
    test(what, async (t) => {
      const url = await startServer(t, listen);
      const { text } = serve(t, { late: http(url) });
      assert.equal(await text('late.listening'), told);
    });
  }

  test('but only for a limited time', async (t) => {
    const url = await startServer(t, () => {});
    const { text } = serve(t, { late: http(url) });
    assert.match(await text('late.listening'), /^(true|false)$/);
  });
});
