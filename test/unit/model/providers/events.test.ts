import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { EventReader } from '../../../../src/model/providers/events.ts';
import { type SdkProvider, wireOf } from '../../../../src/model/providers/wire.ts';
import type { ModelEvent } from '../../../../src/ports/models.ts';

const createReader = (provider: SdkProvider) =>
  new EventReader(wireOf({ provider }), { host: 'api.example', model: 'm', secrets: [] });

/** A stream part from its type, its text as JSON, and its metadata. Calls are of the tool `bar`. */
function readPart(line: string): LanguageModelV4StreamPart {
  const [, type = '', text = '""', metadata = '{}'] = /^(\S+)(?: (".*?"))?(?: (\{.*\}))?$/.exec(line) ?? [];
  const delta: string = JSON.parse(text);
  const call = { toolCallId: 'k', toolName: 'bar', input: delta };
  const finish = {
    finishReason: { unified: delta },
    usage: {
      inputTokens: { total: 17, noCache: 10, cacheRead: 5, cacheWrite: 2 },
      outputTokens: { total: 7 },
    },
  };
  const part = { type, id: 'k', delta, providerMetadata: JSON.parse(metadata), ...call, ...finish };
  return part as unknown as LanguageModelV4StreamPart;
}

function showEvent({ kind, ...fields }: ModelEvent): string {
  return [kind, ...Object.values(fields).map((value) => JSON.stringify(value))].join(' ');
}

const linesOf = (text: string) => text.trim().split(/\n\s*/);
const FINISH = (reason: string) =>
  `finish "${reason}" {"input":17,"output":7,"cachedInput":5,"cacheWrite":2}`;

const CASES: readonly (readonly [rule: string, SdkProvider, parts: string, events: string])[] = [
  [
    'thinking and redacted thinking keep their places and their data',
    'anthropic',
    `reasoning-start
     reasoning-delta "Let me "
     reasoning-delta "see."
     reasoning-delta "" {"anthropic":{"signature":"S"}}
     reasoning-end
     reasoning-start {"anthropic":{"redactedData":"R"}}
     reasoning-end
     text-start
     text-delta "Yes."
     text-end`,
    `reasoning "Let me "
     reasoning "see."
     metadata {"anthropic":{"signature":"S"}}
     reasoning ""
     metadata {"anthropic":{"redactedData":"R"}}
     text "Yes."`,
  ],
  [
    'the parts of one summary are one reasoning, without the id of the item',
    'openai',
    `reasoning-start {"openai":{"itemId":"rs_1","reasoningEncryptedContent":null}}
     reasoning-delta "One."
     reasoning-end {"openai":{"itemId":"rs_1"}}
     reasoning-start {"openai":{"itemId":"rs_1","reasoningEncryptedContent":null}}
     reasoning-delta "Two."
     reasoning-end {"openai":{"itemId":"rs_1","reasoningEncryptedContent":"E"}}`,
    String.raw`reasoning "One."
     reasoning "\n\n"
     reasoning "Two."
     metadata {"openai":{"reasoningEncryptedContent":"E"}}`,
  ],
  [
    'a signature on text and on a call is kept',
    'google',
    `text-start
     text-delta "Yes."
     text-delta "" {"google":{"thoughtSignature":"T"}}
     text-end
     tool-call "{}" {"google":{"thoughtSignature":"C"}}`,
    `text "Yes."
     metadata {"google":{"thoughtSignature":"T"}}
     call "k" "bar" "{}" {"google":{"thoughtSignature":"C"}}`,
  ],
  [
    'unsigned reasoning is marked, so that the server gets it back',
    'openai-compatible',
    `reasoning-start
     reasoning-delta "Hm."
     reasoning-end`,
    `reasoning "Hm."
     metadata {"openaiCompatible":{"reasoningContent":true}}`,
  ],
  [
    'a call grows and becomes complete',
    'anthropic',
    `tool-input-start
     tool-input-delta "[1"
     tool-input-delta "]"
     tool-input-end
     tool-call "[1]"`,
    `callInput "k" "bar" ""
     callInput "k" "bar" "[1"
     callInput "k" "bar" "]"
     call "k" "bar" "[1]"`,
  ],
  [
    'a call that the token limit cut off is not a call',
    'anthropic',
    `tool-call "{"
     finish "length"`,
    FINISH('length'),
  ],
  [
    'a call with invalid JSON counts if the reply ended normally',
    'anthropic',
    `tool-call "{a:1}"
     tool-call "{}"
     finish "tool-calls"`,
    `call "k" "bar" "{a:1}"
     call "k" "bar" "{}"
     ${FINISH('calls')}`,
  ],
  ['stop is stop', 'google', 'finish "stop"', FINISH('stop')],
  ['length is length', 'google', 'finish "length"', FINISH('length')],
  ['a content filter is a refusal', 'google', 'finish "content-filter"', FINISH('refused')],
  ['other is other', 'google', 'finish "other"', FINISH('other')],
  [
    'stop after a call is calls',
    'google',
    'tool-call "{}"\nfinish "stop"',
    `call "k" "bar" "{}"\n${FINISH('calls')}`,
  ],
  [
    'tool-calls after a call is calls',
    'google',
    'tool-call "{}"\nfinish "tool-calls"',
    `call "k" "bar" "{}"\n${FINISH('calls')}`,
  ],
];
for (const [rule, provider, parts, events] of CASES) {
  it(`${provider}: ${rule}`, () => {
    const reader = createReader(provider);
    const read = linesOf(parts).flatMap((line) => reader.read(readPart(line)).map(showEvent));
    assert.deepEqual(read, linesOf(events));
  });
}

it('a call that a lost connection cut off is not a call', () => {
  const reader = createReader('openai-chat');
  assert.deepEqual(reader.read(readPart('tool-call "{"')), []);
  const cut = readPart('finish "interrupted"');
  assert.throws(() => reader.read(cut), { kind: 'modelFailure', retryable: true });
});
