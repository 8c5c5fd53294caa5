import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { listModels } from '../../../../src/model/config/list.ts';
import type { ModelConfig } from '../../../../src/model/config/models.ts';
import { createSdkModel } from '../../../../src/model/providers/sdkModel.ts';
import { STALL_MS } from '../../../../src/model/providers/stream.ts';
import type { ModelEvent, ModelRequest } from '../../../../src/ports/models.ts';

const config: ModelConfig = {
  name: 'm',
  provider: 'openai-chat',
  model: 'gpt-4o',
  baseUrl: 'https://host.example/v1',
};
const request: ModelRequest = {
  system: 'Be terse.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
  tools: [],
};
const never = new AbortController().signal;

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('silence', () => {
  const silent = async () =>
    new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });

  for (const [where, fetch] of [
    ['before the answer', () => new Promise<Response>(() => {})],
    ['in the stream', silent],
  ] as const) {
    it(`five minutes of it ${where} end the request with a retryable failure`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const model = createSdkModel(config, { fetch });
      const reply = collect(model.stream(request, never));
      const failed = assert.rejects(reply, {
        kind: 'modelFailure',
        retryable: true,
        message: 'host.example has sent nothing for 5 minutes.',
      });
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      t.mock.timers.tick(STALL_MS);
      await failed;
    });
  }

  it('a keep-alive restarts the timer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (each) => {
        controller = each;
      },
    });
    const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    const reply = collect(createSdkModel(config, { fetch }).stream(request, never));
    const settle = async () => {
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await settle();
    for (let beat = 0; beat < 3; beat += 1) {
      t.mock.timers.tick(STALL_MS - 1);
      controller?.enqueue(new TextEncoder().encode(': alive\n\n'));
      await settle();
    }
    const chunk = { choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] };
    controller?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
    controller?.close();
    assert.deepEqual(
      (await reply).map(({ kind }) => kind),
      ['text', 'finish'],
    );
  });

  it('a stop before the request sends nothing', async () => {
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      return silent();
    };
    const model = createSdkModel(config, { fetch });
    await assert.rejects(collect(model.stream(request, AbortSignal.abort())), { retryable: false });
    assert.equal(sent, 0);
  });
});

describe('reasoning that is no longer accepted', () => {
  const signed: ModelRequest = {
    ...request,
    messages: [
      ...request.messages,
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm.', metadata: { anthropic: { signature: 'OLD' } } },
          { kind: 'text', text: 'Yes.' },
        ],
      },
      ...request.messages,
    ],
  };
  const claude: ModelConfig = { ...config, provider: 'anthropic', model: 'claude-sonnet-4-5' };
  const refuse = (message: string) =>
    new Response(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }), {
      status: 400,
    });

  it('is left out once, and the chat continues', async () => {
    const bodies: string[] = [];
    const fetch: typeof globalThis.fetch = async (_, init) => {
      bodies.push(String(init?.body));
      if (bodies.length === 1) return refuse('Invalid signature in thinking block');
      const events = [
        {
          type: 'message_start',
          message: { id: 'i', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
        },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ];
      return new Response(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
    };
    const events = await collect(createSdkModel(claude, { key: 'k', fetch }).stream(signed, never));
    assert.equal(events.at(-1)?.kind, 'finish');
    assert.deepEqual(
      bodies.map((body) => body.includes('OLD')),
      [true, false],
    );
  });

  it('is not the cause if the second request is refused too: the first refusal is reported', async () => {
    let tries = 0;
    const fetch = async () => {
      tries += 1;
      return refuse(`reason ${tries}`);
    };
    const model = createSdkModel(claude, { key: 'k', fetch });
    await assert.rejects(collect(model.stream(signed, never)), {
      message: 'host.example refused the request: reason 1.',
    });
    await assert.rejects(collect(model.stream(request, never)), {
      message: 'host.example refused the request: reason 3.',
    });
    assert.equal(tries, 3);
  });
});

describe('the preview', () => {
  it('is the request as it would be sent, without keys and base64', async () => {
    const bytes = new Uint8Array(12_300);
    const image = {
      kind: 'file',
      name: 'a.png',
      mimeType: 'image/png',
      size: bytes.length,
      read: async () => bytes,
    } as const;
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      return new Response();
    };
    const model = createSdkModel(
      { ...config, headers: { 'X-Team': 'team-token' } },
      { key: 'sk-secret', fetch },
    );
    const preview = await model.preview({ ...request, messages: [{ role: 'user', parts: [image] }] });
    const [head = '', body = ''] = preview.split(/\n\n(.*)/s);
    assert.match(head, /^POST https:\/\/host\.example\/v1\/chat\/completions\nauthorization: «left out»\n/);
    assert.match(head, /\nx-team: «left out»/);
    assert.deepEqual(JSON.parse(body).messages, [
      { role: 'system', content: 'Be terse.' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,«12.3 KB of image/png»' } }],
      },
    ]);
    assert.equal(/sk-secret|team-token|AAAA/.test(preview), false);
    assert.equal(sent, 0);
  });
});

describe('the environment', () => {
  it('gives no model a key or an address, and cannot prevent loading', async () => {
    const script = `
      const { createSdkModel } = await import(${JSON.stringify(import.meta.resolve('../../../../src/model/providers/sdkModel.ts'))});
      const request = ${JSON.stringify(request)};
      for (const provider of ['anthropic', 'openai', 'openai-chat', 'google']) {
        const model = createSdkModel({ name: 'm', provider, model: 'm' }, {});
        console.log((await model.preview(request)).split('\\n\\n')[0]);
      }`;
    const names = ['ANTHROPIC', 'OPENAI', 'GOOGLE_GENERATIVE_AI'];
    const env = Object.fromEntries(
      names.flatMap((name) => [
        [`${name}_API_KEY`, 'ENV'],
        [`${name}_BASE_URL`, ''],
      ]),
    );
    const args = ['--input-type=module', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
    assert.deepEqual(stdout.match(/^POST .*$/gm), [
      'POST https://api.anthropic.com/v1/messages',
      'POST https://api.openai.com/v1/responses',
      'POST https://api.openai.com/v1/chat/completions',
      'POST https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse',
    ]);
    assert.doesNotMatch(stdout, /authorization|api-key/);
  });
});

describe('a config that cannot work', () => {
  it('is refused with advice', () => {
    const make = (more: Partial<ModelConfig>) => () => {
      const { baseUrl: _, ...bare } = config;
      return createSdkModel({ ...bare, ...more }, {});
    };
    assert.throws(make({ provider: 'openai-compatible' }), { message: /needs a baseUrl/ });
    assert.throws(make({ baseUrl: 'host' }), { message: 'The baseUrl host is not a valid URL.' });
  });
});

describe('listModels', () => {
  const answering = (pages: readonly unknown[], seen: string[] = []): typeof fetch => {
    let page = 0;
    return async (input, init) => {
      seen.push(`${String(input)} ${JSON.stringify(init?.headers)}`);
      page += 1;
      return Response.json(pages[page - 1]);
    };
  };

  it('OpenAI and compatible: sorted, without duplicates, and only chat models if that is known', async () => {
    const seen: string[] = [];
    const data = [
      { id: 'b' },
      { id: 'a' },
      { id: 'b' },
      { id: 'painter', architecture: { output_modalities: ['image'] } },
      { id: 'writer', architecture: { output_modalities: ['text', 'image'] } },
      { id: 'embed', capabilities: { completion_chat: false } },
      { id: 'sort', type: 'rerank' },
      'nonsense',
    ];
    const fetch = answering([{ data }], seen);
    assert.deepEqual(await listModels({ provider: 'openai' }, { key: 'k', fetch }), ['a', 'b', 'writer']);
    assert.deepEqual(seen, ['https://api.openai.com/v1/models {"authorization":"Bearer k"}']);
  });

  it('Anthropic: page by page', async () => {
    const seen: string[] = [];
    const fetch = answering(
      [
        { data: [{ id: 'b' }], has_more: true, last_id: 'b' },
        { data: [{ id: 'a' }], has_more: false },
      ],
      seen,
    );
    assert.deepEqual(await listModels({ provider: 'anthropic' }, { key: 'k', fetch }), ['a', 'b']);
    assert.match(
      seen[1] ?? '',
      /^https:\/\/api\.anthropic\.com\/v1\/models\?limit=1000&after_id=b .*"x-api-key":"k"/,
    );
  });

  it('Gemini: without the prefix, only generative models', async () => {
    const models = [
      { name: 'models/gemini-3-pro', supportedGenerationMethods: ['generateContent', 'countTokens'] },
      { name: 'models/embedding-001', supportedGenerationMethods: ['embedContent'] },
    ];
    const fetch = answering([{ models, nextPageToken: 'n' }, { models: [] }]);
    assert.deepEqual(await listModels({ provider: 'google' }, { key: 'k', fetch }), ['gemini-3-pro']);
  });

  const failures: readonly [string, () => Response | Promise<Response>, RegExp][] = [
    [
      'a wrong key',
      () => new Response('{}', { status: 401 }),
      /^The key was not accepted for api\.openai\.com\./,
    ],
    [
      'no list',
      () => new Response('', { status: 404 }),
      /^api\.openai\.com does not list its models\. Check the baseUrl\.$/,
    ],
    ['a page', () => new Response('<html>'), /^api\.openai\.com did not respond with a list of models\./],
    [
      'a broken server',
      () => Response.json({ error: { message: 'Oh' } }, { status: 500 }),
      /failed with status 500: Oh\.$/,
    ],
    [
      'nobody there',
      () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
        ),
      /^Could not reach api\.openai\.com: the connection was refused\.$/,
    ],
  ];
  for (const [rule, answer, message] of failures) {
    it(`${rule} has a plain message`, async () => {
      await assert.rejects(listModels({ provider: 'openai' }, { key: 'k', fetch: async () => answer() }), {
        message,
      });
    });
  }
});
