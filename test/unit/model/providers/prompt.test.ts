import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelConfig } from '../../../../src/model/config/modelConfig.ts';
import { createSdkModel } from '../../../../src/model/providers/sdkModel.ts';
import type { SdkProvider } from '../../../../src/model/providers/wire.ts';
import type {
  AssistantPart,
  ContentPart,
  FilePart,
  ModelMessage,
  ModelRequest,
  Reasoning,
} from '../../../../src/ports/models.ts';

const MODELS: Readonly<Record<SdkProvider, string>> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  'openai-chat': 'gpt-4o',
  'openai-compatible': 'some-model',
  google: 'gemini-2.5-flash',
};

type Body = Record<string, unknown>;

/** The request as the preview shows it. */
async function send(
  provider: SdkProvider,
  messages: readonly ModelMessage[],
  more: Partial<ModelConfig> = {},
  request: Partial<ModelRequest> = {},
): Promise<Body> {
  const config = {
    name: 'm',
    provider,
    model: MODELS[provider],
    baseUrl: 'https://host.example/v1',
    ...more,
  };
  const preview = await createSdkModel(config, { key: 'k' }).preview({
    system: '',
    messages,
    tools: [],
    ...request,
  });
  return JSON.parse(preview.slice(preview.indexOf('\n\n'))) as Body;
}

const user = (...parts: readonly ContentPart[]): ModelMessage => ({ role: 'user', parts });
const text = (value: string): ContentPart => ({ kind: 'text', text: value });
const assistant = (...parts: readonly AssistantPart[]): ModelMessage => ({ role: 'assistant', parts });
const file = (name: string, mimeType: string, bytes = 'bytes'): FilePart => ({
  kind: 'file',
  name,
  mimeType,
  size: bytes.length,
  read: async () => new TextEncoder().encode(bytes),
});
const call = (id: string, metadata?: AssistantPart['metadata']): AssistantPart => ({
  kind: 'call',
  id,
  name: 't',
  arguments: {},
  ...(metadata && { metadata }),
});
const hi = user(text('hi'));
const yes = { kind: 'text', text: 'Yes.' } as const;

describe('files', () => {
  const documents = 'image/png application/pdf';
  const all = `${documents} audio/wav audio/mpeg`;
  const cases: readonly (readonly [SdkProvider, accepted: string])[] = [
    ['anthropic', documents],
    ['openai', documents],
    ['openai-chat', all],
    ['openai-compatible', 'image/png'],
    ['google', all],
  ];
  for (const [provider, accepted] of cases) {
    it(`${provider} accepts ${accepted}; other files become one line of text`, async () => {
      const model = createSdkModel({ name: 'm', provider, model: 'm', baseUrl: 'http://host.example' }, {});
      for (const type of `${all} image/svg+xml video/mp4 text/csv`.split(' ')) {
        const isAccepted = accepted.split(' ').includes(type);
        const body = JSON.stringify(await send(provider, [user(file('f.x', type), text('look'))]));
        assert.equal(model.accepts(type), isAccepted, type);
        assert.equal(body.includes('this model does not accept such files'), !isAccepted, type);
        assert.equal(/«5 bytes of /.test(body), isAccepted, `${type} ${body}`);
      }
    });
  }

  it('a file that cannot be read is named', async () => {
    const gone = { ...file('a.png', 'image/png'), read: () => Promise.reject(new Error('it is gone')) };
    await assert.rejects(send('openai', [user(gone)]), {
      kind: 'modelFailure',
      message: 'Could not read a.png: it is gone',
    });
  });

  it('at most four are read at a time', async () => {
    let open = 0;
    let most = 0;
    const slow = Array.from({ length: 12 }, (_, index) => ({
      ...file(`${index}.png`, 'image/png'),
      read: async () => {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        return new Uint8Array(3);
      },
    }));
    await send('openai', [user(...slow)]);
    assert.equal(most, 4);
  });
});

describe('reasoning is sent only to the provider that signed it', () => {
  const thought: AssistantPart = {
    kind: 'reasoning',
    text: 'Hm.',
    metadata: {
      anthropic: { signature: 'SIG-A' },
      openai: { reasoningEncryptedContent: 'SIG-O' },
      openaiCompatible: { reasoningContent: true },
    },
  };
  const answer = assistant({ kind: 'reasoning', text: 'Plain.' }, thought, yes);
  const cases: readonly [SdkProvider, json: string][] = [
    ['anthropic', '[{"type":"thinking","thinking":"Hm.","signature":"SIG-A"},{"type":"text","text":"Yes."}]'],
    [
      'openai',
      '{"type":"reasoning","encrypted_content":"SIG-O","summary":[{"type":"summary_text","text":"Hm."}]}',
    ],
    ['openai-compatible', '{"role":"assistant","content":"Yes.","reasoning_content":"Hm."}'],
    ['google', '{"role":"model","parts":[{"text":"Yes."}]}'],
  ];
  for (const [provider, expected] of cases) {
    it(provider, async () => {
      const body = JSON.stringify(await send(provider, [hi, answer, hi]));
      assert.ok(body.includes(expected), body);
      assert.equal(body.includes('Plain.'), false);
    });
  }

  it('trailing reasoning is not sent', async () => {
    const body = JSON.stringify(await send('anthropic', [hi, assistant(thought), hi]));
    assert.doesNotMatch(body, /thinking|"role":"assistant"/);
  });

  it('redacted thinking is sent back unchanged', async () => {
    const metadata = { anthropic: { redactedData: 'DATA' } };
    const hidden = assistant({ kind: 'reasoning', text: '', metadata }, yes);
    const { messages } = await send('anthropic', [hi, hidden, hi]);
    assert.partialDeepStrictEqual(messages, [{}, { content: [{ type: 'redacted_thinking' }] }]);
  });

  it('Gemini gets the signatures of its calls and texts', async () => {
    const metadata = { google: { thoughtSignature: 'SIG-G' } };
    const { contents } = await send('google', [hi, assistant({ ...yes, metadata }, call('c1', metadata))]);
    const parts = [
      { text: 'Yes.', thoughtSignature: 'SIG-G' },
      { functionCall: { id: 'c1', name: 't', args: {} }, thoughtSignature: 'SIG-G' },
    ];
    assert.partialDeepStrictEqual(contents, [{}, { parts }]);
  });

  it('a compatible server gets the signature of a call where Google would look for it', async () => {
    const metadata = { openaiCompatible: { thoughtSignature: 'SIG' } };
    const { messages } = await send('openai-compatible', [hi, assistant(call('c1', metadata))]);
    assert.deepEqual((messages as Body[])[1]?.['tool_calls'], [
      {
        id: 'c1',
        type: 'function',
        function: { name: 't', arguments: '{}' },
        extra_content: { google: { thought_signature: 'SIG' } },
      },
    ]);
  });
});

describe('results', () => {
  const png = file('a.png', 'image/png');
  const results = (isError: boolean, ...parts: readonly ContentPart[]): ModelMessage[] => [
    hi,
    assistant(call('c 1')),
    { role: 'tool', results: [{ id: 'c 1', name: 't', isError, parts }] },
  ];

  it('Chat: images of one step follow its results in one message', async () => {
    const result = (id: string, ...parts: readonly ContentPart[]): ModelMessage => ({
      role: 'tool',
      results: [{ id, name: 't', isError: false, parts }],
    });
    const calls = assistant(call('c1'), call('c2'));
    const two = [hi, calls, result('c1', text('one'), png, text('more')), result('c2', png)];
    for (const provider of ['openai-chat', 'openai-compatible'] as const) {
      const { messages } = await send(provider, two);
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,«5 bytes of image/png»' } };
      assert.deepEqual((messages as Body[]).slice(2), [
        { role: 'tool', tool_call_id: 'c1', content: 'one\n\n[image 1: see the next message]\n\nmore' },
        { role: 'tool', tool_call_id: 'c2', content: '[image 1: see the next message]' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Image 1 of the result of t (call c1):' },
            image,
            { type: 'text', text: 'Image 1 of the result of t (call c2):' },
            image,
          ],
        },
      ]);
    }
  });

  for (const provider of ['anthropic', 'openai', 'openai-chat', 'google'] as const) {
    it(`${provider}: a PDF follows its result in the message of the user`, async () => {
      const parts = [text('Here:'), file('a.pdf', 'application/pdf', '%PDF-')];
      const results = [{ id: 'c1', name: 'a__b', isError: false, parts }];
      const body = await send(provider, [user(text('Hi')), assistant(call('c1')), { role: 'tool', results }]);
      const messages = (body['messages'] ?? body['input'] ?? body['contents']) as { role?: string }[];
      assert.match(JSON.stringify(messages), /Here:\\n\\n\[file a\.pdf: see the next message\]/);
      assert.equal(messages.at(-1)?.role, 'user');
      assert.match(JSON.stringify(messages.at(-1)), /application\/pdf|a\.pdf"/);
    });
  }

  it('Gemini 3 accepts an image in the result, Gemini 2 after it', async () => {
    const sent = async (model: string) =>
      ((await send('google', results(false, text('one'), png), { model }))['contents'] as Body[]).slice(2);
    const image = { inlineData: { mimeType: 'image/png', data: '«5 bytes of image/png»' } };
    const response = (content: string) => ({ id: 'c_20_1', name: 't', response: { name: 't', content } });
    assert.deepEqual(await sent('gemini-3-pro'), [
      { role: 'user', parts: [{ functionResponse: { ...response('one'), parts: [image] } }] },
    ]);
    const follows = response('one\n\n[image 1: see the next message]');
    assert.deepEqual(await sent('gemini-2.5-flash'), [
      { role: 'user', parts: [{ functionResponse: follows }] },
      { role: 'user', parts: [image] },
    ]);
  });

  for (const provider of Object.keys(MODELS) as SdkProvider[]) {
    it(`${provider}: an error is marked, with and without an image`, async () => {
      for (const parts of [[text('broken')], [text('broken'), png]]) {
        const body = JSON.stringify(await send(provider, results(true, ...parts)));
        assert.match(body, /"is_error":true|\\"error\\":|"error":"broken|The tool reported an error:/);
      }
    });

    it(`${provider}: nothing empty is sent`, async () => {
      const messages = [
        hi,
        assistant({ kind: 'text', text: ' ' }),
        user(text('\n')),
        ...results(false).slice(1),
      ];
      const body = JSON.stringify(await send(provider, messages));
      assert.doesNotMatch(body, /"(content|parts)":\[\]|"text":"\s*"|"content":""|"text":"\\n"/);
      assert.match(body, /"c_20_1"/);
    });
  }
});

describe('settings', () => {
  const cases: readonly [SdkProvider, string, Reasoning | undefined, object][] = [
    ['anthropic', 'claude-sonnet-4-5', 'off', { thinking: { type: 'disabled' } }],
    ['anthropic', 'claude-sonnet-4-5', 'low', { thinking: { type: 'enabled' } }],
    [
      'anthropic',
      'claude-opus-4-6',
      'high',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    ['openai', 'gpt-5', 'medium', { reasoning: { effort: 'medium', summary: 'auto' } }],
    ['openai', 'gpt-5', undefined, { store: false, include: ['reasoning.encrypted_content'] }],
    ['openai-chat', 'o3', 'high', { reasoning_effort: 'high' }],
    ['openai-compatible', 'm', 'low', { reasoning_effort: 'low' }],
    ['google', 'gemini-2.5-flash', 'off', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
    [
      'google',
      'gemini-3-pro',
      'high',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'high', includeThoughts: true } } },
    ],
  ];
  for (const [provider, model, reasoning, expected] of cases) {
    it(`${provider} ${model}: reasoning ${reasoning ?? 'by default'}`, async () => {
      const body = await send(provider, [hi], { model, ...(reasoning && { reasoning }) });
      assert.partialDeepStrictEqual(body, expected);
      if (reasoning === undefined) assert.equal(body['reasoning'], undefined);
    });
  }

  it('the request overrides the settings', async () => {
    const body = await send('anthropic', [hi], { maxTokens: 100 }, { maxTokens: 50, temperature: 0.5 });
    assert.partialDeepStrictEqual(body, { max_tokens: 50, temperature: 0.5 });
  });

  it('Anthropic: a model other than Claude gets a larger default limit', async () => {
    assert.equal((await send('anthropic', [hi], { model: 'other' }))['max_tokens'], 8192);
  });

  it('Anthropic: without a system text, the last tool has the cache mark', async () => {
    const tool = { name: 't', tool: { server: 's', tool: 't' }, description: '', inputSchema: undefined };
    const { tools } = await send('anthropic', [hi], {}, { tools: [tool, { ...tool, name: 'u' }] });
    const [first, second] = tools as Body[];
    assert.deepEqual(
      [first?.['cache_control'], second?.['cache_control']],
      [undefined, { type: 'ephemeral' }],
    );
    assert.deepEqual(second?.['input_schema'], { type: 'object', properties: {} });
  });
});
