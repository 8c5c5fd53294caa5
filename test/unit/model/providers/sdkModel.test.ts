import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findBaseUrl, KeyRefused, listModels } from '../../../../src/model/config/listModels.ts';
import type { ModelConfig } from '../../../../src/model/config/modelConfig.ts';
import { ModelError } from '../../../../src/model/providers/modelError.ts';
import { createSdkModel } from '../../../../src/model/providers/sdkModel.ts';
import { KEEP_ALIVE_MS, STALL_MS } from '../../../../src/model/providers/stream.ts';
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

/** A body whose chunks the test sends whenever the reader waits for one. */
function heldBody() {
  let pulled = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const body = new ReadableStream<Uint8Array>(
    { pull: (controller) => pulled.resolve(controller) },
    { highWaterMark: 0 },
  );
  const next = async () => {
    const controller = await pulled.promise;
    pulled = Promise.withResolvers();
    return controller;
  };
  return { body, next };
}

const respond = (body: ReadableStream | string) =>
  new Response(body, { headers: { 'content-type': 'text/event-stream' } });

describe('a key over http', () => {
  const send = async (baseUrl: string, key: string | undefined) => {
    const asked: string[] = [];
    const fetch = async (input: unknown) => {
      asked.push(String(input));
      return Response.json({ data: [] });
    };
    const failed = await listModels({ ...config, baseUrl }, { key, fetch }).catch(String);
    return { asked, failed };
  };

  for (const host of [
    'host.example',
    '192.168.0.7:11434',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
  ]) {
    it(`is not sent to ${host}, and nothing else is`, async () => {
      const { asked, failed } = await send(`http://${host}/v1`, 'sk-1');
      assert.deepEqual(asked, []);
      assert.match(String(failed), /The API key was not sent to .*, because http:\/\/ is not encrypted/);
    });
  }

  it('is sent to this machine', async () => {
    for (const host of ['localhost:1', '127.0.0.1:1', '[::1]:1'])
      assert.equal((await send(`http://${host}/v1`, 'sk-1')).asked.length, 1);
  });

  it('is no problem where there is none', async () => {
    assert.equal((await send('http://192.168.0.7:11434/v1', undefined)).asked.length, 1);
  });
});

describe('five minutes of silence end the request with a retryable failure', () => {
  const waiting = Promise.withResolvers<unknown>();
  const { body, next } = heldBody();
  const cases = [
    ['before the response', () => new Promise<Response>(waiting.resolve), () => waiting.promise],
    ['in the stream', async () => respond(body), next],
  ] as const;
  for (const [where, fetch, isSilent] of cases) {
    it(where, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const failed = assert.rejects(collect(createSdkModel(config, { fetch }).stream(request, never)), {
        kind: 'modelFailure',
        retryable: true,
        message: 'host.example has sent nothing for 5 minutes.',
      });
      await isSilent();
      t.mock.timers.tick(STALL_MS);
      await failed;
    });
  }

  it('but a keep-alive restarts the timer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { body, next } = heldBody();
    const reply = collect(
      createSdkModel(config, { fetch: async () => respond(body) }).stream(request, never),
    );
    const bytes = (text: string) => new TextEncoder().encode(`${text}\n\n`);
    for (let beat = 0; beat < 3; beat += 1) {
      const controller = await next();
      t.mock.timers.tick(STALL_MS - 1);
      controller.enqueue(bytes(': alive'));
    }
    const controller = await next();
    const chunk = { choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] };
    controller.enqueue(bytes(`data: ${JSON.stringify(chunk)}`));
    controller.close();
    assert.equal((await reply).map(({ kind }) => kind).join(), 'text,finish');
  });

  const beats = [
    [config, ': alive\n\n'],
    [{ ...config, provider: 'anthropic' }, 'event: ping\ndata: {"type":"ping"}\n\n'],
    [{ ...config, provider: 'openai' }, 'data: {"type":"keepalive","sequence_number":1}\n\n'],
  ] as const;
  for (const [each, beat] of beats) {
    it(`and ${each.provider} ends it with keep-alives alone, after 15 minutes`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const { body, next } = heldBody();
      const failed = assert.rejects(
        collect(createSdkModel(each, { fetch: async () => respond(body) }).stream(request, never)),
        { retryable: true, message: 'host.example has sent only keep-alives for 15 minutes.' },
      );
      for (let ms = 0; ms < KEEP_ALIVE_MS; ms += STALL_MS / 2) {
        const controller = await next();
        t.mock.timers.tick(STALL_MS / 2);
        controller.enqueue(new TextEncoder().encode(beat));
      }
      await failed;
    });
  }
});

describe('a connection that breaks', () => {
  const chunk = (finish_reason?: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason }] })}\n\n`;
  /** What arrives of a reply that is sent in one piece. */
  const receive = async (sent: string) => {
    const pieces = [sent];
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const piece = pieces.shift();
      if (piece === undefined) controller.error(new TypeError('terminated'));
      else controller.enqueue(new TextEncoder().encode(piece));
    };
    const fetch = async () => respond(new ReadableStream({ pull }));
    const kinds: string[] = [];
    try {
      for await (const { kind } of createSdkModel(config, { fetch }).stream(request, never)) kinds.push(kind);
    } catch (error) {
      kinds.push(error instanceof ModelError ? error.problem : String(error));
    }
    return kinds.join();
  };

  it('right after [DONE] loses nothing of the reply', async () => {
    assert.equal(await receive(`${chunk('stop')}data: [DONE]\n\n`), 'text,finish');
  });

  it('right after words keeps them, in a reply that lacks its end', async () => {
    assert.equal(await receive(chunk()), 'text,cut');
    assert.equal(await receive(`${chunk()}data: {"cho`), 'text,cut');
  });
});

it('a stop before the request sends nothing', async (t) => {
  const fetch = t.mock.fn(async () => respond(''));
  const model = createSdkModel(config, { fetch });
  await assert.rejects(collect(model.stream(request, AbortSignal.abort())), { retryable: false });
  assert.equal(fetch.mock.callCount(), 0);
});

describe('reasoning that is no longer accepted', () => {
  const [question] = request.messages;
  assert.ok(question);
  const reasoning = {
    kind: 'reasoning',
    text: 'Hm.',
    metadata: { anthropic: { signature: 'OLD' } },
  } as const;
  const reply = { role: 'assistant', parts: [reasoning, { kind: 'text', text: 'Yes.' }] } as const;
  const signed: ModelRequest = { ...request, messages: [question, reply, question] };
  const claude: ModelConfig = { ...config, provider: 'anthropic', model: 'claude-sonnet-4-5' };
  const refuse = (message: string) =>
    Response.json({ type: 'error', error: { type: 'invalid_request_error', message } }, { status: 400 });

  it('is left out once, and the chat continues', async () => {
    const bodies: string[] = [];
    const usage = { input_tokens: 1, output_tokens: 1 };
    const fetch: typeof globalThis.fetch = async (_, init) => {
      bodies.push(String(init?.body));
      if (bodies.length === 1) return refuse('Invalid signature in thinking block');
      const events = [
        { type: 'message_start', message: { id: 'i', model: 'm', usage } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
        { type: 'message_stop' },
      ];
      return respond(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));
    };
    const events = await collect(createSdkModel(claude, { key: 'k', fetch }).stream(signed, never));
    assert.equal(events.at(-1)?.kind, 'finish');
    assert.equal(bodies.map((body) => body.includes('OLD')).join(), 'true,false');
  });

  it('is not the cause if the second request is refused too: the first refusal is reported', async () => {
    let tries = 0;
    const fetch = async () => {
      tries += 1;
      return refuse(`reason ${tries}`);
    };
    const model = createSdkModel(claude, { key: 'k', fetch });
    for (const [asked, number] of [
      [signed, 1],
      [request, 3],
    ] as const) {
      const message = `host.example refused the request: reason ${number}.`;
      await assert.rejects(collect(model.stream(asked, never)), { message });
    }
    assert.equal(tries, 3);
  });
});

it('the preview is the request as it would be sent, without keys and base64', async (t) => {
  const bytes = new Uint8Array(12_300);
  const file = { kind: 'file', name: 'a.png', mimeType: 'image/png', size: bytes.length } as const;
  const image = { ...file, read: async () => bytes };
  const fetch = t.mock.fn(async () => respond(''));
  const secret = { ...config, headers: { 'X-Team': 'team-token' } };
  const model = createSdkModel(secret, { key: 'sk-secret', fetch });
  const preview = await model.preview({ ...request, messages: [{ role: 'user', parts: [image] }] });
  const [head = '', body = ''] = preview.split(/\n\n(.*)/s);
  assert.match(head, /^POST https:\/\/host\.example\/v1\/chat\/completions\nauthorization: «hidden»\n/);
  assert.match(head, /\nx-team: «hidden»/);
  const url = 'data:image/png;base64,«12.3 KB of image/png»';
  assert.deepEqual(JSON.parse(body).messages, [
    { role: 'system', content: 'Be terse.' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
  ]);
  assert.doesNotMatch(preview, /sk-secret|team-token|AAAA/);
  assert.equal(fetch.mock.callCount(), 0);
});

it('the environment gives no model a key or an address, and cannot prevent loading', async () => {
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

it('a configuration that cannot work is refused with advice', () => {
  const make = (more: Partial<ModelConfig>) => () => {
    const { baseUrl: _, ...bare } = config;
    return createSdkModel({ ...bare, ...more }, {});
  };
  assert.throws(make({ provider: 'openai-compatible' }), { message: /needs a baseUrl/ });
  assert.throws(make({ baseUrl: 'host' }), { message: 'The baseUrl host is not a valid URL.' });
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

  const names = async (...options: Parameters<typeof listModels>) =>
    (await listModels(...options)).map(({ model }) => model);

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
    assert.deepEqual(await names({ provider: 'openai' }, { key: 'k', fetch }), ['a', 'b', 'writer']);
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
    assert.deepEqual(await names({ provider: 'anthropic' }, { key: 'k', fetch }), ['a', 'b']);
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
    assert.deepEqual(await names({ provider: 'google' }, { key: 'k', fetch }), ['gemini-3-pro']);
  });

  const refused = new TypeError('fetch failed', {
    cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
  });
  const failures: readonly [string, Response | Error, RegExp][] = [
    [
      'a wrong key',
      new Response('{}', { status: 401 }),
      /^The key was not accepted for api\.openai\.com[.:]/,
    ],
    [
      'no list',
      new Response('', { status: 404 }),
      /^api\.openai\.com does not list its models\. Check the baseUrl\.$/,
    ],
    ['a web page', new Response('<html>'), /^api\.openai\.com did not respond with a list of models\./],
    [
      'a server error',
      Response.json({ error: { message: 'Oh' } }, { status: 500 }),
      /failed with status 500: Oh\.$/,
    ],
    [
      'a port that fetch refuses',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      /^Could not connect to api\.openai\.com: requests to this port are not allowed\. Use another port\.$/,
    ],
    ['a refused connection', refused, /^Could not connect to api\.openai\.com: the connection was refused\./],
  ];
  for (const [rule, outcome, message] of failures) {
    it(`${rule} has a plain message`, async () => {
      const fetch = async () => {
        if (outcome instanceof Error) throw outcome;
        return outcome;
      };
      await assert.rejects(listModels({ provider: 'openai' }, { key: 'k', fetch }), { message });
    });
  }

  const refusals: readonly (readonly [provider: string, status: number, body: object, reason: string])[] = [
    [
      'OpenAI',
      401,
      { error: { message: 'Incorrect API key provided: sk-12.' } },
      'Incorrect API key provided: «key».',
    ],
    ['Mistral', 401, { detail: 'Unauthorized' }, 'Unauthorized'],
    ['xAI', 403, { code: 'x', error: 'Team is blocked.' }, 'Team is blocked.'],
    [
      'Google',
      400,
      { error: { message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] } },
      'API key not valid.',
    ],
    ['an empty body', 401, {}, ''],
  ];
  for (const [provider, status, body, reason] of refusals) {
    it(`a refused key has the reason of ${provider}`, async () => {
      const fetch = async () => Response.json(body, { status });
      await assert.rejects(listModels({ provider: 'openai' }, { key: 'k', fetch }), (error) => {
        assert.ok(error instanceof KeyRefused);
        assert.deepEqual([error.status, error.reason], [status, reason]);
        return true;
      });
    });
  }

  it('a bare host is tried with /v1', async () => {
    const at = (found: string) => async (input: string | URL | Request) =>
      String(input) === `${found}/models` ? Response.json({ data: [] }) : new Response('', { status: 404 });
    const host = 'http://127.0.0.1:1';
    assert.equal(await findBaseUrl(host, { fetch: at(`${host}/v1`) }), `${host}/v1`);
    assert.equal(await findBaseUrl(host, { fetch: at(host) }), host);
    await assert.rejects(findBaseUrl(`${host}/x`, { fetch: at(`${host}/x/v1`) }), /does not list its models/);
  });
});
