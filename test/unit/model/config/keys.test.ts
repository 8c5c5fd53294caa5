import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { envKey, keyPlace, needsKey } from '../../../../src/model/config/keys.ts';
import type { ModelConfig } from '../../../../src/model/config/modelConfig.ts';

const config = (more: Partial<ModelConfig> = {}): ModelConfig => ({
  name: 'my-model',
  provider: 'anthropic',
  model: 'm',
  ...more,
});

describe('the key in the environment', () => {
  type Case = readonly [rule: string, config: ModelConfig, env: Record<string, string>, key?: string];
  const cases: readonly Case[] = [
    ['the exact name first', config(), { 'FILECHAT_KEY_my-model': 'a', FILECHAT_KEY_MY_MODEL: 'b' }, 'a'],
    ['then in capitals', config(), { FILECHAT_KEY_MY_MODEL: 'b', ANTHROPIC_API_KEY: 'c' }, 'b'],
    ['then the provider’s usual one', config(), { ANTHROPIC_API_KEY: 'c' }, 'c'],
    ['an empty one is ignored', config(), { FILECHAT_KEY_MY_MODEL: ' ', ANTHROPIC_API_KEY: 'c' }, 'c'],
    ['white space around it is removed', config(), { ANTHROPIC_API_KEY: ' c\n' }, 'c'],
    ['of OpenAI for both protocols', config({ provider: 'openai-chat' }), { OPENAI_API_KEY: 'd' }, 'd'],
    ['of Google', config({ provider: 'google' }), { GOOGLE_GENERATIVE_AI_API_KEY: 'e' }, 'e'],
    [
      'at its own address',
      config({ baseUrl: 'https://api.anthropic.com/v1/' }),
      { ANTHROPIC_API_KEY: 'c' },
      'c',
    ],
    ...[
      'https://evil.example/v1',
      'http://api.anthropic.com/v1',
      'https://api.anthropic.com.evil.example/v1',
      'https://api.anthropic.com:8443/v1',
      'https://api.anthropic.com@evil.example/v1',
      'http://127.0.0.1:8080/v1',
      'nowhere',
    ].map((baseUrl): Case => [`not at ${baseUrl}`, config({ baseUrl }), { ANTHROPIC_API_KEY: 'c' }]),
    [
      'of its own name at any address',
      config({ baseUrl: 'https://other.example/v1' }),
      { FILECHAT_KEY_MY_MODEL: 'b', ANTHROPIC_API_KEY: 'c' },
      'b',
    ],
    ['of no other provider', config({ provider: 'openai-compatible' }), { OPENAI_API_KEY: 'd' }],
    ['a name with a slash', config({ name: 'openai/x.1' }), { FILECHAT_KEY_OPENAI_X_1: 'f' }, 'f'],
  ];
  for (const [rule, model, env, key] of cases) it(rule, () => assert.equal(envKey(model, env), key));
});

it('a stored key is bound to the provider and the address', () => {
  assert.equal(keyPlace(config()), 'anthropic https://api.anthropic.com/v1');
  assert.equal(keyPlace(config({ baseUrl: 'https://API.anthropic.com/v1/' })), keyPlace(config()));
  assert.equal(keyPlace(config({ provider: 'openai-chat' })), keyPlace(config({ provider: 'openai' })));
  assert.equal(
    keyPlace(config({ provider: 'openai-compatible', baseUrl: 'https://h:8/a/v1?x=1' })),
    'openai-compatible https://h:8/a/v1',
  );
  assert.notEqual(keyPlace(config({ baseUrl: 'https://evil.invalid/v1' })), keyPlace(config()));
  assert.equal(keyPlace(config({ provider: 'vscode' })), 'vscode');
});

it('a key is needed, except for local models, VS Code’s models, the tour, and models with a key header', () => {
  const compatible = (baseUrl: string) => config({ provider: 'openai-compatible', baseUrl });
  assert.equal(needsKey(config()), true);
  assert.equal(needsKey(config({ provider: 'vscode' })), false);
  assert.equal(needsKey(config({ provider: 'tour' })), false);
  assert.equal(needsKey(compatible('http://localhost:11434/v1')), false);
  assert.equal(needsKey(compatible('https://host/v1')), true);
  assert.equal(needsKey(config({ headers: { Authorization: 'Bearer x' } })), false);
});
