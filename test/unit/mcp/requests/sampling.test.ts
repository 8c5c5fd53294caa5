import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { readSampling, writeSamplingAnswer } from '../../../../src/mcp/requests/sampling.ts';
import type { SamplingAnswer, SamplingRequest } from '../../../../src/ports/servers.ts';

const text = (words: string) => ({ type: 'text', text: words });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const call = { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'x' } };
const result = { type: 'tool_result', toolUseId: 'c1', content: [text('found')] };

describe('what a server asks a model is read', () => {
  test('everything that a request can say', () => {
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
        {
          role: 'user',
          parts: [
            { kind: 'text', text: 'look' },
            { kind: 'image', mimeType: 'image/png', data: 'AAAA' },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { kind: 'text', text: 'I look' },
            { kind: 'call', id: 'c1', name: 'look', arguments: { at: 'x' } },
          ],
        },
        {
          role: 'user',
          parts: [{ kind: 'result', id: 'c1', isError: true, parts: [{ kind: 'text', text: 'found' }] }],
        },
        { role: 'assistant', parts: [{ kind: 'text', text: 'done' }] },
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

  test('what stands for resources in a result', () => {
    const content = [
      { type: 'resource', resource: { uri: 'a:1', text: 'whole' } },
      { type: 'resource', resource: { uri: 'a:2', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'a:3', name: 'three' },
    ];
    const read = readSampling({ messages: [assistant(call), user({ ...result, content })], maxTokens: 1 });
    assert.deepEqual(read.messages[1]?.parts, [
      {
        kind: 'result',
        id: 'c1',
        isError: false,
        parts: ['whole', '[resource a:2]', '[resource a:3]'].map((each) => ({ kind: 'text', text: each })),
      },
    ]);
  });

  test('structured content counts where there is nothing else', () => {
    const only = { type: 'tool_result', toolUseId: 'c1', content: [], structuredContent: { n: 1 } };
    const read = readSampling({ messages: [assistant(call), user(only)], maxTokens: 1 });
    assert.match(JSON.stringify(read.messages[1]), /"text":"\{\\"n\\":1\}"/);
  });

  const messages = [user(text('hi'))];
  const wrong: readonly [string, unknown, RegExp][] = [
    ['nothing', undefined, /maxTokens/],
    ['no limit', { messages }, /maxTokens/],
    ['a limit of nothing', { messages, maxTokens: 0 }, /maxTokens/],
    ['no messages', { maxTokens: 1 }, /“messages” must be a list/],
    ['a third role', { messages: [{ role: 'system', content: text('x') }], maxTokens: 1 }, /role/],
    [
      'an unknown block',
      { messages: [user({ type: 'video' })], maxTokens: 1 },
      /unsupported type of content/,
    ],
    ['text without text', { messages: [user({ type: 'text' })], maxTokens: 1 }, /“text” must be a string/],
    ['a call by the user', { messages: [user(call)], maxTokens: 1 }, /messages of the assistant/],
    [
      'a result among words',
      { messages: [assistant(call), user([result, text('x')])], maxTokens: 1 },
      /nothing else/,
    ],
    [
      'a call without its result',
      { messages: [assistant(call), user(text('x'))], maxTokens: 1 },
      /needs a result/,
    ],
    ['a result without its call', { messages: [user(result)], maxTokens: 1 }, /each result needs a call/],
    ['a call at the end', { messages: [assistant(call)], maxTokens: 1 }, /has no result/],
    ['tools that are no list', { messages, maxTokens: 1, tools: {} }, /“tools” must be a list/],
  ];
  for (const [name, params, message] of wrong) {
    test(`refused: ${name}`, () => assert.throws(() => readSampling(params), message));
  }
});

describe('what the server gets', () => {
  const answer = (more: Partial<SamplingAnswer>): SamplingAnswer => ({
    model: 'm',
    parts: [],
    stopReason: 'endTurn',
    ...more,
  });
  const calls = { kind: 'call', id: 'c2', name: 'look', arguments: { at: 'y' } } as const;

  test('texts as one block, as servers without tools expect', () => {
    const parts = [
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'b' },
    ] as const;
    const written = writeSamplingAnswer(answer({ parts }));
    assert.deepEqual(written, {
      model: 'm',
      role: 'assistant',
      stopReason: 'endTurn',
      content: { type: 'text', text: 'ab' },
    });
    assert.equal(issues('CreateMessageResult', written), undefined);
  });

  test('an empty answer is an empty text', () => {
    const written = writeSamplingAnswer(answer({ stopReason: 'maxTokens' }));
    assert.deepEqual(written.content, { type: 'text', text: '' });
    assert.equal(issues('CreateMessageResult', written), undefined);
  });

  test('calls as they are, behind the words', () => {
    const parts = [calls, { kind: 'text', text: 'I look' } as const];
    const written = writeSamplingAnswer(answer({ parts, stopReason: 'toolUse' }));
    assert.deepEqual(written.content, [
      { type: 'text', text: 'I look' },
      { type: 'tool_use', id: 'c2', name: 'look', input: { at: 'y' } },
    ]);
    assert.equal(issues('CreateMessageResultWithTools', written), undefined);
  });

  test('a call alone', () => {
    const written = writeSamplingAnswer(answer({ parts: [calls], stopReason: 'toolUse' }));
    assert.deepEqual(written.content, { type: 'tool_use', id: 'c2', name: 'look', input: { at: 'y' } });
    assert.equal(issues('CreateMessageResultWithTools', written), undefined);
  });
});

/** What the protocol itself has to say against it. */
function issues(type: 'CreateMessageResult' | 'CreateMessageResultWithTools', value: unknown): unknown {
  const checked = specTypeSchemas[type]['~standard'].validate(value);
  assert.ok(!(checked instanceof Promise));
  return checked.issues;
}
