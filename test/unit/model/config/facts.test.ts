import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { factsOf, isRefused, wellKnownModels } from '../../../../src/model/config/facts.ts';
import { findModel } from '../../../../src/model/config/modelConfig.ts';
import type { ListPrice } from '../../../../src/ports/models.ts';

/** The facts about a model, as a chat names it. */
async function factsAbout(name: string) {
  const config = findModel(name, new Map());
  assert.ok(typeof config === 'object', String(config));
  return factsOf(config);
}

describe('the facts about a model', () => {
  it('are found by its exact name', async () => {
    const { contextTokens, price, abilities } = await factsAbout('anthropic/claude-haiku-4-5');
    assert.equal(contextTokens, 200_000);
    assert.deepEqual(price, { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 });
    assert.deepEqual(abilities, { images: true, reasoning: true, tools: true });
  });

  const same: readonly (readonly [name: string, as: string])[] = [
    ['anthropic/claude-opus-4-6-20260205', 'anthropic/claude-opus-4-6'],
    ['anthropic/claude-opus-4-6@20260205', 'anthropic/claude-opus-4-6'],
    ['openai/gpt-4.1-2025-04-14', 'openai/gpt-4.1'],
    ['openai-chat/gpt-4.1', 'openai/gpt-4.1'],
    ['google/models/gemini-2.5-pro', 'google/gemini-2.5-pro'],
    ['openrouter/anthropic/claude-sonnet-4.5-20250929', 'openrouter/anthropic/claude-sonnet-4.5'],
  ];
  for (const [name, as] of same) {
    it(`of ${name} are those of ${as}`, async () => {
      const facts = await factsAbout(as);
      assert.ok(facts.price);
      assert.deepEqual(await factsAbout(name), facts);
    });
  }

  const unknown = [
    'anthropic/claude-opus-4-9',
    'anthropic/claude-sonnet',
    'anthropic/constructor',
    'openai/gpt-5-audio',
    'openai/gpt-4-0613',
    'google/gemini-2.5-pro-preview-05-06',
    'google/gemini-2.5-pro-preview',
    'openrouter/claude-sonnet-4.5',
    'openrouter/anthropic/claude-sonnet-4.5:nitro',
    'groq/openai/gpt-oss-120b-q4_K_M',
    'ollama/openai/gpt-oss-120b',
    'ollama/qwen3:8b-q4_K_M',
    'lmstudio/llama-3.3-70b-versatile',
    'vscode/gpt-4.1',
  ];
  for (const name of unknown) {
    it(`of ${name} are unknown`, async () => {
      const facts = await factsAbout(name);
      assert.deepEqual(facts, { abilities: {} });
      assert.equal(isRefused('image/png', facts), false);
    });
  }

  it('depend on the address: elsewhere a model has another price', async () => {
    const model = { provider: 'openai', model: 'gpt-4.1' } as const;
    assert.equal((await factsOf({ ...model, baseUrl: 'https://gateway.example/v1' })).price, undefined);
    assert.equal((await factsOf({ ...model, baseUrl: 'https://api.openai.com/v1' })).price?.input, 2);
    const router = { provider: 'openai-compatible', baseUrl: 'https://openrouter.ai/api/v1' } as const;
    const { price } = await factsOf({ ...router, model: 'google/gemma-4-31b-it:free' });
    assert.deepEqual(price, { input: 0, output: 0 });
    const paid = await factsOf({ ...router, model: 'google/gemma-4-31b-it' });
    assert.ok(paid.price && paid.price.input > 0);
  });

  it('have the user’s entry on top', async () => {
    const model = { provider: 'anthropic', model: 'claude-haiku-4-5' } as const;
    const own = await factsOf({ ...model, price: { input: 7, output: 8 }, abilities: ['tools'] });
    assert.deepEqual(own.price, { input: 7, output: 8 });
    assert.equal(own.contextTokens, 200_000);
    assert.ok(
      isRefused('image/png', own) && isRefused('application/pdf', own) && isRefused('audio/wav', own),
    );
    assert.equal((await factsOf({ ...model, contextTokens: 5 })).contextTokens, 5);
  });

  it('say that a model takes no images only where that is known', async () => {
    const textOnly = await factsAbout('openai/gpt-4');
    assert.equal(isRefused('image/png', textOnly), true);
    // The data set does not say which models take documents.
    assert.equal(isRefused('application/pdf', textOnly), false);
    assert.equal(isRefused('image/png', await factsAbout('openai/gpt-4.1')), false);
  });

  it('of the tour are that it is free', async () => {
    assert.deepEqual(await factsAbout('tour'), { price: { input: 0, output: 0 }, abilities: {} });
  });
});

it('well-known models are those of the providers that need no address', async () => {
  const names = await wellKnownModels();
  for (const name of ['anthropic/claude-haiku-4-5', 'openai/gpt-4.1', 'google/gemini-2.5-pro'])
    assert.ok(names.includes(name), name);
  assert.ok(names.every((name) => /^(?:anthropic|openai|google)\/./.test(name)));
});

describe('the data set', () => {
  const path = join(import.meta.dirname, '../../../../src/model/config/facts.json');
  const { hosts }: { hosts: Record<string, Record<string, { context?: number; price?: ListPrice }>> } =
    JSON.parse(readFileSync(path, 'utf8'));
  const models = Object.values(hosts).flatMap((each) => Object.entries(each));

  it('is small', () => assert.ok(statSync(path).size < 150_000));

  it('has a price of 0 only for free variants, and context sizes above 0', () => {
    const free = models.filter(([, { price }]) => price?.input === 0 && price.output === 0);
    assert.ok(free.length > 0 && free.every(([id]) => id.endsWith(':free')));
    assert.ok(models.every(([, { context }]) => context === undefined || context > 0));
  });

  it('has prices that rise with the length of the request', () => {
    for (const [id, { price }] of models) {
      const limits = price?.tiers?.map(({ above }) => above) ?? [];
      assert.deepEqual(
        limits,
        limits.toSorted((a, b) => a - b),
        id,
      );
    }
  });
});
