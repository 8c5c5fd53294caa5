import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { EventReader } from '../../../../src/model/providers/events.ts';
import { type SdkProvider, wireOf } from '../../../../src/model/providers/wire.ts';
import type { ModelEvent } from '../../../../src/ports/models.ts';

const about = { host: 'api.example', model: 'm', secrets: [] };

function read(provider: SdkProvider, parts: readonly LanguageModelV4StreamPart[]): ModelEvent[] {
  const reader = new EventReader(wireOf({ provider }), about);
  return parts.flatMap((part) => reader.read(part));
}

function finish(unified: LanguageModelV4FinishReason['unified']): LanguageModelV4StreamPart {
  return {
    type: 'finish',
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 17, noCache: 10, cacheRead: 5, cacheWrite: 2 },
      outputTokens: { total: 7, text: undefined, reasoning: undefined },
    },
  };
}

const toolCall = (input: string): LanguageModelV4StreamPart => ({
  type: 'tool-call',
  toolCallId: 'k',
  toolName: 'charts_bar',
  input,
});

describe('reasoning and its signature', () => {
  it('Anthropic: thinking and redacted thinking keep their places and their data', () => {
    const events = read('anthropic', [
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Let me ' },
      { type: 'reasoning-delta', id: '0', delta: 'see.' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: 'S' } } },
      { type: 'reasoning-end', id: '0' },
      { type: 'reasoning-start', id: '1', providerMetadata: { anthropic: { redactedData: 'R' } } },
      { type: 'reasoning-end', id: '1' },
      { type: 'text-start', id: '2' },
      { type: 'text-delta', id: '2', delta: 'Yes.' },
      { type: 'text-end', id: '2' },
    ]);
    assert.deepEqual(events, [
      { kind: 'reasoning', text: 'Let me ' },
      { kind: 'reasoning', text: 'see.' },
      { kind: 'metadata', metadata: { anthropic: { signature: 'S' } } },
      { kind: 'reasoning', text: '' },
      { kind: 'metadata', metadata: { anthropic: { redactedData: 'R' } } },
      { kind: 'text', text: 'Yes.' },
    ]);
  });

  it('OpenAI: the parts of one summary are one reasoning, without the id of the item', () => {
    const kept = (reasoningEncryptedContent: string | null) => ({
      openai: { itemId: 'rs_1', reasoningEncryptedContent },
    });
    const events = read('openai', [
      { type: 'reasoning-start', id: 'rs_1:0', providerMetadata: kept(null) },
      { type: 'reasoning-delta', id: 'rs_1:0', delta: 'One.' },
      { type: 'reasoning-end', id: 'rs_1:0', providerMetadata: { openai: { itemId: 'rs_1' } } },
      { type: 'reasoning-start', id: 'rs_1:1', providerMetadata: kept(null) },
      { type: 'reasoning-delta', id: 'rs_1:1', delta: 'Two.' },
      { type: 'reasoning-end', id: 'rs_1:1', providerMetadata: kept('E') },
    ]);
    assert.deepEqual(events, [
      { kind: 'reasoning', text: 'One.' },
      { kind: 'reasoning', text: '\n\n' },
      { kind: 'reasoning', text: 'Two.' },
      { kind: 'metadata', metadata: { openai: { reasoningEncryptedContent: 'E' } } },
    ]);
  });

  it('Gemini: a signature on text and on a call', () => {
    const signed = (thoughtSignature: string) => ({ google: { thoughtSignature } });
    const events = read('google', [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Yes.' },
      { type: 'text-delta', id: '0', delta: '', providerMetadata: signed('T') },
      { type: 'text-end', id: '0' },
      { ...toolCall('{}'), providerMetadata: signed('C') } as LanguageModelV4StreamPart,
    ]);
    assert.deepEqual(events, [
      { kind: 'text', text: 'Yes.' },
      { kind: 'metadata', metadata: signed('T') },
      { kind: 'call', key: 'k', name: 'charts_bar', argumentsText: '{}', metadata: signed('C') },
    ]);
  });

  it('a compatible server gets its reasoning back although it signs nothing', () => {
    const events = read('openai-compatible', [
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
      { type: 'reasoning-end', id: '0' },
    ]);
    assert.deepEqual(events.at(-1), {
      kind: 'metadata',
      metadata: { openaiCompatible: { reasoningContent: true } },
    });
  });
});

describe('calls', () => {
  it('a call grows and becomes complete', () => {
    const events = read('anthropic', [
      { type: 'tool-input-start', id: 'k', toolName: 'charts_bar' },
      { type: 'tool-input-delta', id: 'k', delta: '{"a"' },
      { type: 'tool-input-delta', id: 'k', delta: ':1}' },
      { type: 'tool-input-end', id: 'k' },
      toolCall('{"a":1}'),
    ]);
    assert.deepEqual(events, [
      { kind: 'callInput', key: 'k', name: 'charts_bar', text: '' },
      { kind: 'callInput', key: 'k', name: 'charts_bar', text: '{"a"' },
      { kind: 'callInput', key: 'k', name: 'charts_bar', text: ':1}' },
      { kind: 'call', key: 'k', name: 'charts_bar', argumentsText: '{"a":1}' },
    ]);
  });

  it('a call that the token limit cut off is not a call', () => {
    const events = read('anthropic', [toolCall('{"a":'), finish('length')]);
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['finish'],
    );
  });

  it('a call that a lost connection cut off is not a call', () => {
    const reader = new EventReader(wireOf({ provider: 'openai-chat' }), about);
    assert.deepEqual(reader.read(toolCall('{"a":')), []);
    assert.throws(() => reader.read(finish('interrupted')), { kind: 'modelFailure', retryable: true });
  });

  it('a call with invalid JSON counts if the reply ended normally', () => {
    const events = read('anthropic', [toolCall('{a:1}'), toolCall('{}'), finish('tool-calls')]);
    assert.deepEqual(
      events.map((event) => (event.kind === 'call' ? event.argumentsText : event.kind)),
      ['{a:1}', '{}', 'finish'],
    );
  });
});

describe('the end', () => {
  const reasons = [
    ['stop', [], 'stop'],
    ['stop', [toolCall('{}')], 'calls'],
    ['tool-calls', [toolCall('{}')], 'calls'],
    ['length', [], 'length'],
    ['content-filter', [], 'refused'],
    ['other', [], 'other'],
  ] as const;
  for (const [unified, before, reason] of reasons) {
    it(`${unified} after ${before.length} calls is ${reason}`, () => {
      assert.deepEqual(read('google', [...before, finish(unified)]).at(-1), {
        kind: 'finish',
        reason,
        usage: { input: 17, output: 7, cachedInput: 5, cacheWrite: 2 },
      });
    });
  }
});
