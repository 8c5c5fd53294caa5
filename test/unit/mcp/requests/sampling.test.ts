import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { readSampling, writeSamplingAnswer } from '../../../../src/mcp/requests/sampling.ts';
import type { SamplingAnswer, SamplingRequest } from '../../../../src/ports/servers.ts';

const text = (words: string) => ({ type: 'text', text: words });
const says = (words: string) => ({ kind: 'text' as const, text: words });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const call = { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'x' } };
const result = { type: 'tool_result', toolUseId: 'c1', content: [text('found')] };

describe('the parameters of a sampling request', () => {
  test('all fields', () => {
    const read = readSampling({
      messages: [
        user([text('look'), { type: 'image', data: 'AAAA', mimeType: 'image/png' }]),
        assistant([text('I look'), call]),
        user([{ ...result, isError: true }]),
        assistant(text('done')),
        user({ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }),
      ],
      systemPrompt: 'Be brief.',
      maxTokens: 100,
      temperature: 0.5,
      stopSequences: ['END', 5],
      modelPreferences: { hints: [{ name: 'claude' }, {}], costPriority: 1 },
      tools: [{ name: 'look', inputSchema: { type: 'object' }, description: 'Looks.' }, { name: 'bare' }],
      toolChoice: { mode: 'required' },
      includeContext: 'allServers',
    });
    const expected: SamplingRequest = {
      system: 'Be brief.',
      messages: [
        { role: 'user', parts: [says('look'), { kind: 'image', mimeType: 'image/png', data: 'AAAA' }] },
        {
          role: 'assistant',
          parts: [says('I look'), { kind: 'call', id: 'c1', name: 'look', arguments: { at: 'x' } }],
        },
        { role: 'user', parts: [{ kind: 'result', id: 'c1', isError: true, parts: [says('found')] }] },
        { role: 'assistant', parts: [says('done')] },
        { role: 'user', parts: [{ kind: 'audio', mimeType: 'audio/wav', data: 'AAAA' }] },
      ],
      maxTokens: 100,
      temperature: 0.5,
      stopSequences: ['END'],
      tools: [
        { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } },
        { name: 'bare', description: '', inputSchema: { type: 'object' } },
      ],
      toolChoice: 'required',
      hints: ['claude'],
    };
    assert.deepEqual(read, expected);
  });

  test('resources in a result become text', () => {
    const content = [
      { type: 'resource', resource: { uri: 'a:1', text: 'whole' } },
      { type: 'resource', resource: { uri: 'a:2', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'a:3', name: 'three' },
    ];
    const read = readSampling({ messages: [assistant(call), user({ ...result, content })], maxTokens: 1 });
    const parts = [says('whole'), says('[resource a:2]'), says('[resource a:3]')];
    assert.deepEqual(read.messages[1]?.parts, [{ kind: 'result', id: 'c1', isError: false, parts }]);
  });

  test('structured content is used if there is no other content', () => {
    const only = { type: 'tool_result', toolUseId: 'c1', content: [], structuredContent: { n: 1 } };
    const read = readSampling({ messages: [assistant(call), user(only)], maxTokens: 1 });
    assert.match(JSON.stringify(read.messages[1]), /"text":"\{\\"n\\":1\}"/);
  });

  const hi = [user(text('hi'))];
  const wrong: readonly [string, unknown, RegExp][] = [
    ['nothing', undefined, /maxTokens/],
    ['no limit', { maxTokens: undefined }, /maxTokens/],
    ['a limit of zero', { maxTokens: 0 }, /maxTokens/],
    ['no messages', { messages: undefined }, /“messages” must be a list/],
    ['a third role', { messages: [{ role: 'system', content: text('x') }] }, /role/],
    ['an unknown block', { messages: [user({ type: 'video' })] }, /unsupported type of content/],
    ['text without text', { messages: [user({ type: 'text' })] }, /“text” must be a string/],
    ['a call by the user', { messages: [user(call)] }, /messages of the assistant/],
    ['a result among text', { messages: [assistant(call), user([result, text('x')])] }, /nothing else/],
    ['a call without its result', { messages: [assistant(call), user(text('x'))] }, /needs a result/],
    ['a result without its call', { messages: [user(result)] }, /each result needs a call/],
    ['a call at the end', { messages: [assistant(call)] }, /has no result/],
    ['tools that are not a list', { tools: {} }, /“tools” must be a list/],
  ];
  for (const [name, change, message] of wrong) {
    const params = change && { messages: hi, maxTokens: 1, ...change };
    test(`refused: ${name}`, () => assert.throws(() => readSampling(params), message));
  }
});

describe('the answer for the server', () => {
  const call: SamplingAnswer['parts'][number] = {
    kind: 'call',
    id: 'c2',
    name: 'look',
    arguments: { at: 'y' },
  };
  const toolUse = { type: 'tool_use', id: 'c2', name: 'look', input: { at: 'y' } };
  const cases: readonly [string, SamplingAnswer['parts'], SamplingAnswer['stopReason'], unknown][] = [
    ['texts are one block, as servers without tools expect', [says('a'), says('b')], 'endTurn', text('ab')],
    ['an empty answer is an empty text', [], 'maxTokens', text('')],
    ['calls come after the text', [call, says('I look')], 'toolUse', [text('I look'), toolUse]],
    ['a single call is not in a list', [call], 'toolUse', toolUse],
  ];
  for (const [name, parts, stopReason, content] of cases) {
    test(name, () => {
      const written = writeSamplingAnswer({ model: 'm', parts, stopReason });
      assert.deepEqual(written, { model: 'm', role: 'assistant', stopReason, content });
      const type = stopReason === 'toolUse' ? 'CreateMessageResultWithTools' : 'CreateMessageResult';
      assert.equal(issues(type, written), undefined);
    });
  }
});

/** The issues that the schema of the protocol finds. */
function issues(type: 'CreateMessageResult' | 'CreateMessageResultWithTools', value: unknown): unknown {
  const checked = specTypeSchemas[type]['~standard'].validate(value);
  assert.ok(!(checked instanceof Promise));
  return checked.issues;
}

describe('a sampling request is refused with', () => {
  const many = <T>(count: number, item: (at: number) => T) =>
    Array.from({ length: count }, (_, at) => item(at));
  const cases: Readonly<Record<string, readonly [params: object, message: RegExp]>> = {
    'too much text': [
      { messages: many(5, () => user(text('x'.repeat(100_000)))) },
      /^Error: The messages have more than 400000 characters of text\.$/,
    ],
    'too many tools': [
      { messages: [], tools: many(1001, (at) => ({ name: `t${at}` })) },
      /^Error: There are more than 1000 “tools”\.$/,
    ],
    'too many stop sequences': [
      { messages: [], stopSequences: many(101, String) },
      /^Error: There can be at most 100 “stopSequences”, of at most 1000 characters each\.$/,
    ],
  };
  for (const [what, [params, message]] of Object.entries(cases)) {
    test(what, () => assert.throws(() => readSampling({ maxTokens: 1, ...params }), message));
  }
});
