import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRetryingFetch } from '../../../../src/mcp/connection/transport.ts';

const broken = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
const post = (method: string, more: object = {}) => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: more }),
});

/** Each attempt ends as given. */
async function run(init: RequestInit | undefined, ...endings: (Error | Response)[]) {
  let tries = 0;
  const ended = await createRetryingFetch(async () => {
    const ending = endings[tries] ?? assert.fail('unexpected attempt');
    tries += 1;
    if (ending instanceof Error) throw ending;
    return ending;
  })('http://x/', init).catch((error: unknown) => error);
  return { ended, tries };
}

describe('a connection lost before the response', () => {
  for (const method of ['server/discover', 'initialize', 'tools/list', 'resources/read', 'prompts/get']) {
    test(`is retried for ${method}`, async () => {
      const answer = new Response();
      assert.deepEqual(await run(post(method), broken('ECONNRESET'), answer), { ended: answer, tries: 2 });
    });
  }

  test('is retried for an event stream', async () => {
    const answer = new Response();
    assert.equal((await run(undefined, broken('UND_ERR_SOCKET'), answer)).ended, answer);
  });

  test('is retried only once, and the first error is reported', async () => {
    const first = broken('ECONNRESET');
    const { ended, tries } = await run(post('tools/list'), first, broken('ECONNREFUSED'));
    assert.deepEqual([ended === first, tries], [true, 2]);
  });

  const once: readonly (readonly [what: string, init: RequestInit, error: Error])[] = [
    ['a tool call', post('tools/call', { name: 'tools/list' }), broken('ECONNRESET')],
    ['the result of a task', post('tasks/result'), broken('ECONNRESET')],
    ['the end of a session', { method: 'DELETE' }, broken('ECONNRESET')],
    ['a response', { method: 'POST', body: '{"id":1,"result":{}}' }, broken('ECONNRESET')],
    ['an invalid message', { method: 'POST', body: 'tools/list' }, broken('ECONNRESET')],
    ['a refused connection', post('tools/list'), broken('ECONNREFUSED')],
    ['an aborted request', post('tools/list'), new DOMException('enough', 'AbortError')],
  ];
  for (const [what, init, error] of once) {
    test(`is not retried for ${what}`, async () => {
      const { ended, tries } = await run(init, error);
      assert.deepEqual([ended === error, tries], [true, 1]);
    });
  }
});
