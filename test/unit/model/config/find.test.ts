import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findLocalModels } from '../../../../src/model/config/find.ts';

type Answer = (url: string, init: RequestInit | undefined) => Promise<Response>;

const find = (answer: Answer, timeoutMs?: number) => {
  const asked: string[] = [];
  const fetch = (async (input: string | URL | Request, init?: RequestInit) => {
    asked.push(String(input));
    return answer(String(input), init);
  }) satisfies typeof globalThis.fetch;
  return findLocalModels(fetch, timeoutMs).then((models) => ({ models, asked }));
};
const list = (...ids: unknown[]) => Response.json({ data: ids.map((id) => ({ id })) });

describe('models on this machine', () => {
  it('are listed on loopback only and named after the program that runs them', async () => {
    const { models, asked } = await find(async (url) =>
      url.includes(':1234') ? list('phi') : list('llama:8b'),
    );
    assert.deepEqual(asked.sort(), ['http://127.0.0.1:11434/v1/models', 'http://127.0.0.1:1234/v1/models']);
    const provider = 'openai-compatible';
    assert.deepEqual(models, [
      { name: 'ollama/llama:8b', provider, model: 'llama:8b', baseUrl: 'http://127.0.0.1:11434/v1' },
      { name: 'lmstudio/phi', provider, model: 'phi', baseUrl: 'http://127.0.0.1:1234/v1' },
    ]);
  });

  const none: readonly (readonly [rule: string, answer: Answer])[] = [
    ['no server responds', () => Promise.reject(new TypeError('fetch failed'))],
    ['the response is an error', async () => new Response('[]', { status: 500 })],
    ['the response is not JSON', async () => new Response('<html>')],
    ['the response is not a list', async () => Response.json([{ id: 'x' }])],
    ['the ids are invalid', async () => list(1, null, '', ' ', 'a\u0000b', 'x'.repeat(300))],
    ['they are embedding models', async () => list('nomic-embed-text')],
  ];
  for (const [rule, answer] of none) {
    it(`are none when ${rule}`, async () => assert.deepEqual((await find(answer)).models, []));
  }

  it('a program that is not running does not hide the other', async () => {
    const { models } = await find(async (url) => {
      if (url.includes(':1234')) throw new TypeError('refused');
      return list('a');
    });
    assert.equal(models.map(({ name }) => name).join(), 'ollama/a');
  });

  it('time out quickly, and no redirect is followed', async () => {
    const redirects: unknown[] = [];
    const { models } = await find((_url, init) => {
      redirects.push(init?.redirect);
      return new Promise((_resolve, reject) => {
        // An open request keeps the process alive; the timer of a signal does not.
        const open = setInterval(() => {}, 60_000);
        init?.signal?.addEventListener('abort', () => {
          clearInterval(open);
          reject(init.signal?.reason);
        });
      });
    }, 1);
    assert.deepEqual([models, redirects], [[], ['error', 'error']]);
  });
});
