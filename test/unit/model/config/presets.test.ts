import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listLocalModels } from '../../../../src/model/config/listModels.ts';
import { fallbackModel, findModel, readModels } from '../../../../src/model/config/modelConfig.ts';
import { localServers, PRESETS, presetEndpoint } from '../../../../src/model/config/presets.ts';
import { removeModel, saveModel } from '../../../../src/model/config/saveModel.ts';

const preset = (id: string) => PRESETS.find((each) => each.id === id) ?? assert.fail(id);

describe('the address of a provider', () => {
  it('is its own, over HTTPS', () => {
    for (const each of PRESETS) {
      const { provider, baseUrl } = presetEndpoint(each, {});
      assert.equal(baseUrl === undefined, provider !== 'openai-compatible', each.id);
      if (baseUrl !== undefined) assert.match(baseUrl, /^https:\/\/[^/]+\/.*v1$/);
    }
  });

  const gateways: readonly (readonly [
    id: string,
    env: Record<string, string>,
    baseUrl: string | undefined,
  ])[] = [
    ['anthropic', { ANTHROPIC_BASE_URL: 'https://gate.example.com/' }, 'https://gate.example.com/v1'],
    ['anthropic', { ANTHROPIC_BASE_URL: 'https://gate.example.com/v1' }, 'https://gate.example.com/v1'],
    ['openai', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, 'http://127.0.0.1:1/v1'],
    ['google', { GOOGLE_GEMINI_BASE_URL: 'https://g.example.com' }, 'https://g.example.com/v1beta'],
    ['openai', { ANTHROPIC_BASE_URL: 'https://gate.example.com' }, undefined],
    ['openai', { OPENAI_BASE_URL: 'gate' }, undefined],
  ];
  for (const [id, env, baseUrl] of gateways)
    it(`${id} with ${JSON.stringify(env)}`, () =>
      assert.equal(presetEndpoint(preset(id), env).baseUrl, baseUrl));

  it('is found by a name that no setting has', () => {
    assert.deepEqual(findModel('openrouter/anthropic/claude-x', new Map()), {
      name: 'openrouter/anthropic/claude-x',
      provider: 'openai-compatible',
      model: 'anthropic/claude-x',
      baseUrl: 'https://openrouter.ai/api/v1',
    });
    assert.deepEqual(findModel('ollama/llama:8b', new Map()), {
      name: 'ollama/llama:8b',
      provider: 'openai-compatible',
      model: 'llama:8b',
      baseUrl: 'http://127.0.0.1:11434/v1',
    });
  });
});

describe('servers on this machine', () => {
  const ollama = (host?: string) => localServers(host === undefined ? {} : { OLLAMA_HOST: host })[0]?.baseUrl;

  it('have their usual ports on loopback', () =>
    assert.deepEqual(
      localServers({}).map(({ label, baseUrl }) => [label, new URL(baseUrl).host]),
      [
        ['Ollama', '127.0.0.1:11434'],
        ['LM Studio', '127.0.0.1:1234'],
        ['llama.cpp', '127.0.0.1:8080'],
        ['vLLM', '127.0.0.1:8000'],
      ],
    ));

  const hosts: readonly (readonly [host: string, baseUrl: string])[] = [
    ['127.0.0.1:5555', 'http://127.0.0.1:5555/v1'],
    ['http://localhost:5555/', 'http://localhost:5555/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:5555', 'http://127.0.0.1:5555/v1'],
    ['other.example.com:5555', 'http://127.0.0.1:11434/v1'],
    ['', 'http://127.0.0.1:11434/v1'],
  ];
  for (const [host, baseUrl] of hosts)
    it(`OLLAMA_HOST=${host}: ${baseUrl}`, () => assert.equal(ollama(host), baseUrl));
});

describe('the models of a server on this machine', () => {
  type Answer = (init: RequestInit | undefined) => Promise<Response>;
  const server = { baseUrl: 'http://127.0.0.1:9/v1' };
  const find = (answer: Answer, timeoutMs?: number) =>
    listLocalModels(server, { fetch: (_url, init) => answer(init), timeoutMs });
  const list = (...ids: unknown[]) => Response.json({ data: ids.map((id) => ({ id })) });

  it('are its chat models', async () => {
    const models = await find(async () => list('llama:8b', 'nomic-embed-text', 'phi'));
    assert.deepEqual(
      models.map(({ model }) => model),
      ['llama:8b', 'phi'],
    );
  });

  const none: readonly (readonly [rule: string, answer: Answer])[] = [
    ['nothing listens there', () => Promise.reject(new TypeError('fetch failed'))],
    ['the response is an error', async () => new Response('[]', { status: 500 })],
    ['another program answers with a page', async () => new Response('<html>')],
    ['the response is not a list', async () => Response.json({ ok: true })],
  ];
  for (const [rule, answer] of none)
    it(`are none when ${rule}`, async () => assert.deepEqual(await find(answer), []));

  it('are none after a short time, and no redirect is followed', async () => {
    let redirect: unknown;
    const models = await find((init) => {
      redirect = init?.redirect;
      return new Promise((_resolve, reject) => {
        // An open request keeps the process alive; the timer of a signal does not.
        const open = setInterval(() => {}, 60_000);
        init?.signal?.addEventListener('abort', () => {
          clearInterval(open);
          reject(init.signal?.reason);
        });
      });
    }, 1);
    assert.deepEqual([models, redirect], [[], 'error']);
  });
});

describe('a chat that names no model', () => {
  const models = (...names: string[]) =>
    readModels(Object.fromEntries(names.map((name) => [name, { provider: 'openai', model: name }]))).models;

  it('gets the default model', () => assert.equal(fallbackModel(models('a', 'b'), 'b'), 'b'));
  it('or the only one', () => assert.equal(fallbackModel(models('a'), undefined), 'a'));
  it('but none of several', () => assert.equal(fallbackModel(models('a', 'b'), undefined), undefined));
  it('and never the tour', () => assert.equal(fallbackModel(models(), undefined), undefined));
});

describe('a chosen model', () => {
  const raw = {
    sonnet: { provider: 'anthropic', model: 'claude-x', maxTokens: 10 },
    'openai/gpt-x': { provider: 'openai', model: 'gpt-x', baseUrl: 'https://gate.example.com/v1' },
    broken: 1,
  };
  const known = readModels(raw).models;

  it('is added to the settings beside the others', () => {
    const model = { provider: 'google', model: 'gemini-x', price: { input: 1, output: 2 } } as const;
    assert.deepEqual(saveModel('google/gemini-x', model, { raw, known }), {
      name: 'google/gemini-x',
      models: { ...raw, 'google/gemini-x': model },
    });
  });

  it('keeps the name and the fields that it has there', () =>
    assert.deepEqual(
      saveModel('anthropic/claude-x', { provider: 'anthropic', model: 'claude-x' }, { raw, known }),
      { name: 'sonnet' },
    ));

  it('replaces no other model', () =>
    assert.equal(
      saveModel('openai/gpt-x', { provider: 'openai', model: 'gpt-x' }, { raw, known }).name,
      'openai/gpt-x (2)',
    ));

  it('is removed alone', () =>
    assert.deepEqual(Object.keys(removeModel('sonnet', raw)), ['openai/gpt-x', 'broken']));
});
