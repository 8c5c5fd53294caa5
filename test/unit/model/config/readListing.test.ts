import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PRESETS } from '../../../../src/model/config/presets.ts';
import { readListing, recommendModel } from '../../../../src/model/config/readListing.ts';

const ids = (response: unknown) => readListing(response)?.map(({ model }) => model);
const data = (...names: string[]) => ({ data: names.map((id) => ({ id })) });

describe('what a provider says of a model', () => {
  const cases: readonly (readonly [provider: string, entry: object, expected: object])[] = [
    [
      'Anthropic',
      {
        id: 'claude-x',
        display_name: 'Claude X',
        created_at: '2026-01-02T00:00:00Z',
        max_input_tokens: 200000,
        capabilities: { image_input: { supported: true }, pdf_input: { supported: true } },
      },
      {
        model: 'claude-x',
        title: 'Claude X',
        created: Date.UTC(2026, 0, 2),
        contextTokens: 200000,
        abilities: ['images', 'documents'],
      },
    ],
    [
      'Google',
      {
        name: 'models/gemini-3-flash',
        displayName: 'Gemini 3 Flash',
        inputTokenLimit: 1048576,
        supportedGenerationMethods: ['generateContent'],
        thinking: true,
      },
      {
        model: 'gemini-3-flash',
        title: 'Gemini 3 Flash',
        contextTokens: 1048576,
        abilities: ['reasoning'],
      },
    ],
    [
      'OpenRouter',
      {
        id: 'anthropic/claude-x',
        name: 'Anthropic: Claude X',
        created: 1_700_000_000,
        context_length: 1000000,
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        pricing: { prompt: '0.000003', completion: '0.000015', input_cache_read: '0.0000003' },
        supported_parameters: ['tools', 'reasoning'],
      },
      {
        model: 'anthropic/claude-x',
        title: 'Anthropic: Claude X',
        created: 1_700_000_000_000,
        contextTokens: 1000000,
        price: { input: 3, output: 15, cachedInput: 0.3 },
        abilities: ['images', 'tools', 'reasoning'],
      },
    ],
    [
      'Mistral',
      {
        id: 'mistral-x',
        name: 'mistral-x',
        max_context_length: 131072,
        capabilities: { completion_chat: true, function_calling: true, vision: false },
      },
      { model: 'mistral-x', contextTokens: 131072, abilities: ['tools'] },
    ],
    [
      'Groq',
      { id: 'g', context_window: 8192, active: true },
      { model: 'g', contextTokens: 8192, abilities: [] },
    ],
    ['vLLM', { id: 'v', max_model_len: 4096 }, { model: 'v', contextTokens: 4096, abilities: [] }],
    [
      'an unknown price',
      { id: 'p', pricing: { prompt: '-1', completion: '-1' } },
      { model: 'p', abilities: [] },
    ],
  ];
  for (const [provider, entry, expected] of cases)
    it(provider, () => assert.deepEqual(readListing({ data: [entry] }), [expected]));
});

describe('a list of models', () => {
  it('has the newest first, and each once', () => {
    const models = [
      { id: 'old', created: 1 },
      { id: 'new', created: 3 },
      { id: 'middle', created: 2 },
      { id: 'new', created: 3 },
    ];
    assert.deepEqual(ids({ data: models }), ['new', 'middle', 'old']);
  });

  it('has the highest version first where there are no dates', () =>
    assert.deepEqual(ids(data('gemini-2.5-pro', 'gemini-10-pro', 'gemini-3-pro')), [
      'gemini-10-pro',
      'gemini-3-pro',
      'gemini-2.5-pro',
    ]));

  it('reads versions with a hyphen, and no sizes or dates as versions', () =>
    assert.deepEqual(ids(data('claude-x-5', 'claude-x-4-5-20250929', 'claude-x-5-5', 'gemma-5-70b')), [
      'claude-x-5-5',
      'claude-x-5',
      'gemma-5-70b',
      'claude-x-4-5-20250929',
    ]));

  it('leaves out models that do not chat', () => {
    const others = [
      'text-embedding-3-large',
      'nomic-embed-text:latest',
      'tts-1-hd',
      'gpt-4o-mini-tts',
      'whisper-1',
      'gpt-4o-transcribe',
      'omni-moderation-latest',
      'dall-e-3',
      'gpt-image-1',
      'gpt-4o-realtime-preview',
      'gpt-4o-audio-preview',
      'imagen-4.0-generate-001',
      'veo-3.0',
      'sora-2',
      'babbage-002',
      'mistral-ocr-latest',
      'meta-llama/llama-guard-4-12b',
      'whisper-large-v3-turbo',
      'aqa',
    ];
    const chat = ['gpt-5.4', 'gpt-4o', 'o3', 'llama3.2:latest', 'gemini-2.5-flash-image', 'ministral-8b'];
    assert.deepEqual([...(ids(data(...others, ...chat)) ?? [])].sort(), [...chat].sort());
  });

  for (const [rule, response] of [
    ['text', 'x'],
    ['another object', { ok: true }],
    ['null', null],
  ] as const)
    it(`is not ${rule}`, () => assert.equal(readListing(response), undefined));

  it('ignores entries that are no models', () =>
    assert.deepEqual(
      ids({ data: [1, null, {}, { id: '' }, { id: 'a\u0000b' }, { id: 'x'.repeat(300) }] }),
      [],
    ));
});

describe('the recommended model', () => {
  const cases: readonly (readonly [provider: string, listed: readonly string[], recommended: string])[] = [
    ['anthropic', ['claude-opus-5', 'claude-sonnet-4-6', 'claude-haiku-4-5'], 'claude-sonnet-4-6'],
    ['openai', ['gpt-5.4-mini', 'gpt-5.4', 'gpt-5', 'o3'], 'gpt-5.4'],
    ['google', ['gemini-3-pro', 'gemini-2.5-flash-lite', 'gemini-2.5-flash', 'gemma-3'], 'gemini-2.5-flash'],
    ['openrouter', ['x/y', 'anthropic/claude-sonnet-4.5', 'openrouter/auto'], 'anthropic/claude-sonnet-4.5'],
    ['mistral', ['codestral-latest', 'mistral-medium-latest'], 'mistral-medium-latest'],
    ['groq', ['llama-3.3-70b-versatile', 'openai/gpt-oss-120b'], 'openai/gpt-oss-120b'],
    ['deepseek', ['deepseek-reasoner', 'deepseek-chat'], 'deepseek-chat'],
    ['xai', ['grok-code-fast-1', 'grok-4-0709', 'grok-3'], 'grok-4-0709'],
    ['anthropic', ['something-new', 'older'], 'something-new'],
  ];
  for (const [provider, listed, recommended] of cases) {
    it(`of ${provider}: ${recommended}`, () => {
      const models = listed.map((model, at) => ({ model, created: listed.length - at, abilities: [] }));
      const patterns = PRESETS.find(({ id }) => id === provider)?.recommended;
      assert.equal(recommendModel(models, patterns)?.model, recommended);
    });
  }
});
