import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import { createSdkModel } from '../../../src/model/providers/sdkModel.ts';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import type { FilePart, ModelEvent, ModelMessage, ModelRequest } from '../../../src/ports/models.ts';
import {
  ask,
  beginning,
  beginStream,
  type Connection,
  collect,
  configFor,
  EMPTY_MESSAGES,
  ERROR_EVENTS,
  imagesOf,
  KEY,
  messagesOf,
  PROVIDERS,
  recordBodies,
  runToFailure,
  speak,
  startMock,
  startRawServer,
  textOf,
  textsOf,
  toEvent,
  withoutMarks,
} from '../helpers/modelServer.ts';

const PNG = Buffer.from(`89504e470d0a1a0a${'00112233445566778899aabbccddeeff'.repeat(20)}`, 'hex');
const BASE64 = PNG.toString('base64');
const chart: FilePart = {
  kind: 'file',
  name: 'chart.png',
  mimeType: 'image/png',
  size: PNG.length,
  read: async () => PNG,
};
const TOOL = {
  name: 'charts_bar',
  tool: { server: 'charts', tool: 'bar' },
  description: 'Draws a chart',
  inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
};
const never = new AbortController().signal;
const modelAt = (provider: SdkProvider, url: string) =>
  createSdkModel(configFor(provider, url), { key: KEY });

/** A server that begins to stream, and then does this. */
function startStream(t: TestContext, provider: SdkProvider, go: (connection: Connection) => void = () => {}) {
  return startRawServer(t, (connection) => {
    beginStream(connection);
    connection.response.write(beginning(provider));
    go(connection);
  });
}

const hasResult = ({ messages }: ChatCompletionRequest) => messages.some(({ role }) => role === 'tool');

const question: ModelMessage = { role: 'user', parts: [{ kind: 'text', text: 'draw it' }] };
const call = (id: string): ModelMessage => ({
  role: 'assistant',
  parts: [
    { kind: 'text', text: 'I will.' },
    { kind: 'call', id, name: 'charts_bar', arguments: { title: 'Sales' } },
  ],
});
const result = (id: string): ModelMessage => ({
  role: 'tool',
  results: [
    { id, name: 'charts_bar', isError: false, parts: [{ kind: 'text', text: 'Here it is:' }, chart] },
  ],
});
const request = (...messages: ModelMessage[]): ModelRequest => ({
  system: 'Be terse.',
  messages,
  tools: [TOOL],
});

describe('a tool call and its result with an image', () => {
  const models = [
    ...PROVIDERS.map((provider) => ({ provider })),
    { provider: 'google', model: 'gemini-3-pro' } as const,
  ];
  for (const { provider, ...more } of models) {
    it(`${provider} ${JSON.stringify(more)}: the image arrives as an image, the call id matches, and the text is in order`, async (t) => {
      const mock = await startMock(t);
      mock.on(
        { predicate: (body) => !hasResult(body) },
        {
          toolCalls: [{ id: 'call_1', name: 'charts_bar', arguments: '{"title":"Sales"}' }],
          ...(provider === 'google' && { finishReason: 'stop' }),
        },
      );
      mock.on({ predicate: hasResult }, { content: 'The last quarter 📈 is the best one.' });
      const wire = recordBodies();
      const model = createSdkModel(configFor(provider, mock.url, more), { key: KEY, fetch: wire.fetch });

      const first = await collect(model.stream(request(question), never));
      const made = first.find((event) => event.kind === 'call');
      assert.equal(made?.name, 'charts_bar');
      assert.deepEqual(JSON.parse(made.argumentsText), { title: 'Sales' });
      assert.partialDeepStrictEqual(first.at(-1), { kind: 'finish', reason: 'calls' });

      const second = await collect(model.stream(request(question, call('c1'), result('c1')), never));
      assert.equal(textOf(second), 'The last quarter 📈 is the best one.');
      assert.ok(second.filter(({ kind }) => kind === 'text').length > 1, 'the text is streamed');

      const body = JSON.stringify(wire.bodies[1]);
      assert.ok(imagesOf(wire.bodies[1]).includes(`image/png ${BASE64}`), body);
      assert.equal(textsOf(wire.bodies[1]).filter((text) => text.includes(BASE64.slice(0, 40))).length, 0);
      assert.equal(body.split(BASE64).length - 1, 1, 'the image is sent once');
      assert.match(body, /"(tool_use_id|call_id|tool_call_id|id)":"c1"/);
      assert.ok(textsOf(wire.bodies[1]).some((text) => text.includes('Here it is:')));
      assert.deepEqual(
        mock.getRequests().map(({ response }) => response.status),
        [200, 200],
      );
    });
  }
});

describe('the requests of successive turns', () => {
  for (const provider of PROVIDERS) {
    it(`${provider}: the earlier one is the beginning of the later one`, async (t) => {
      const mock = await startMock(t);
      mock.on({ predicate: () => true }, { content: 'ok' });
      const wire = recordBodies();
      const model = createSdkModel(configFor(provider, mock.url), { key: KEY, fetch: wire.fetch });
      const answer: ModelMessage = { role: 'assistant', parts: [{ kind: 'text', text: 'Done.' }] };
      const turns = [question, call('c1'), result('c1'), answer, question, call('c2'), result('c2')];
      for (const length of [1, 3, 5, 7]) {
        await collect(model.stream(request(...turns.slice(0, length)), never));
      }
      for (const [index, body] of wire.bodies.slice(0, -1).entries()) {
        const earlier = withoutMarks(messagesOf(body));
        const later = withoutMarks(messagesOf(wire.bodies[index + 1])).slice(0, earlier.length);
        assert.deepEqual(later, earlier);
        const heads = [body, wire.bodies[index + 1]].map((each) => ({ ...each, ...EMPTY_MESSAGES }));
        assert.equal(JSON.stringify(heads[0]), JSON.stringify(heads[1]));
      }
      const marks = JSON.stringify(wire.bodies.at(-1)).split('"cache_control"').length - 1;
      assert.equal(marks, provider === 'anthropic' ? 3 : 0);
    });
  }
});

describe('the bytes of a stream', () => {
  for (const provider of PROVIDERS) {
    it(`${provider}: CRLF, comments, and a character cut in two change nothing`, async (t) => {
      const emoji = Buffer.from('📈');
      const whole = Buffer.concat([
        Buffer.from(': keep-alive\r\n\r\n'),
        ...speak(provider, ['Hi ', '📈!']).map((event) => Buffer.from(event.replaceAll('\n', '\r\n'))),
      ]);
      const cut = whole.indexOf(emoji) + 2;
      let continueStream = () => {};
      const url = await startRawServer(t, (connection) => {
        beginStream(connection);
        connection.response.write(whole.subarray(0, cut));
        continueStream = () => connection.response.end(whole.subarray(cut));
      });
      const model = modelAt(provider, url);
      const events: ModelEvent[] = [];
      for await (const event of model.stream(ask('hi'), never)) {
        events.push(event);
        if (event.kind === 'text' && event.text === 'Hi ') continueStream();
      }
      assert.deepEqual(events.slice(0, 2), [
        { kind: 'text', text: 'Hi ' },
        { kind: 'text', text: '📈!' },
      ]);
      const cacheWrite = provider === 'anthropic' ? { cacheWrite: 2 } : {};
      assert.partialDeepStrictEqual(events.at(-1), {
        kind: 'finish',
        reason: 'stop',
        usage: { input: 17, output: 7, cachedInput: 5, ...cacheWrite },
      });
    });

    it(`${provider}: an error within the stream can be retried, and the text before it stays`, async (t) => {
      const url = await startStream(t, provider, ({ response }) =>
        response.end(toEvent(ERROR_EVENTS[provider])),
      );
      const { text, failure } = await runToFailure(modelAt(provider, url));
      assert.equal(text, 'Hi ');
      assert.match(failure.message, /overloaded|failed with status|reported an error/i);
      assert.equal(failure.retryable, true);
    });

    for (const [how, cutOff] of [
      ['ends without a finish', ({ response }: Connection) => response.end()],
      ['is reset', ({ response }: Connection) => response.destroy()],
    ] as const) {
      it(`${provider}: a stream that ${how} is a lost connection`, async (t) => {
        let tear = () => {};
        const url = await startStream(t, provider, (connection) => {
          tear = () => cutOff(connection);
        });
        const { text, failure } = await runToFailure(modelAt(provider, url), () => tear());
        assert.equal(text, 'Hi ');
        assert.match(failure.message, /^The connection to 127\.0\.0\.1:\d+ was lost/);
        assert.equal(failure.retryable, true);
      });
    }

    it(`${provider}: a stop closes the connection at once, even while nothing is read`, async (t) => {
      const controller = new AbortController();
      let closed: Promise<void> | undefined;
      const url = await startStream(t, provider, (connection) => {
        closed = connection.closed;
      });
      const model = modelAt(provider, url);
      const events = model.stream(ask('hi'), controller.signal)[Symbol.asyncIterator]();
      assert.deepEqual((await events.next()).value, { kind: 'text', text: 'Hi ' });
      controller.abort();
      assert.ok(closed);
      await closed;
      await assert.rejects(events.next(), { kind: 'modelFailure', retryable: false });
    });

    it(`${provider}: a reader that stops closes the connection too`, async (t) => {
      let closed: Promise<void> | undefined;
      const url = await startStream(t, provider, (connection) => {
        closed = connection.closed;
      });
      const model = modelAt(provider, url);
      for await (const _ of model.stream(ask('hi'), never)) break;
      assert.ok(closed);
      await closed;
    });
  }
});

describe('an endpoint that refuses', () => {
  for (const provider of PROVIDERS) {
    it(`${provider}: too many requests, with the time to wait`, async (t) => {
      const mock = await startMock(t);
      const error = { message: 'Slow down', type: 'rate_limit_error' };
      mock.on({ predicate: () => true }, { error, status: 429, retryAfter: 7 });
      const { failure } = await runToFailure(modelAt(provider, mock.url));
      assert.deepEqual([failure.retryable, failure.status, failure.retryAfterMs], [true, 429, 7000]);
      assert.match(failure.message, /Slow down/);
    });

    it(`${provider}: a malformed response`, async (t) => {
      const mock = await startMock(t);
      mock.on({ predicate: () => true }, { content: 'ok' }, { chaos: { malformedRate: 1 } });
      const { failure } = await runToFailure(modelAt(provider, mock.url));
      assert.match(failure.message, /127\.0\.0\.1/);
    });

    it(`${provider}: a rejected key is not in the message`, async (t) => {
      const url = await startRawServer(t, ({ response }) => {
        const error = { type: 'x', message: `bad ${KEY}`, code: 1, status: '' };
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ type: 'error', error }));
      });
      const { failure } = await runToFailure(modelAt(provider, url));
      assert.match(failure.message, /^The key was not accepted for 127\.0\.0\.1:\d+[.:]/);
      assert.deepEqual([failure.retryable, failure.status], [false, 401]);
      assert.equal(failure.message.includes(KEY), false);
    });

    it(`${provider}: a refused connection`, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      server.close();
      await once(server, 'close');
      const { failure } = await runToFailure(modelAt(provider, `http://127.0.0.1:${port}`));
      const address = `http://127\\.0\\.0\\.1:${port}`;
      assert.match(
        failure.message,
        new RegExp(`^Could not connect to ${address}.*: the connection was refused\\. Is`),
      );
      assert.equal(failure.retryable, false);
    });
  }

  it('a page instead of a stream, and a redirect, are not followed', async (t) => {
    const seen: string[] = [];
    const url = await startRawServer(t, ({ request, response }) => {
      seen.push(request.url ?? '');
      if (request.url?.startsWith('/page')) {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      } else {
        response.writeHead(307, { location: '/elsewhere' }).end();
      }
    });
    for (const [base, words] of [
      [`${url}/page`, /sent a response in an unknown format\. Check the model’s provider and baseUrl\.$/],
      [`${url}/moved`, /redirects to \/elsewhere\./],
    ] as const) {
      const { failure } = await runToFailure(modelAt('openai-chat', base));
      assert.match(failure.message, words);
      assert.equal(failure.retryable, false);
    }
    assert.equal(seen.length, 2);
  });
});

describe('the headers of a request', () => {
  for (const provider of PROVIDERS) {
    it(`${provider}: the key in its header, the configured headers, and without a key no header for it`, async (t) => {
      const seen: Record<string, unknown>[] = [];
      const url = await startRawServer(t, (connection) => {
        seen.push(connection.request.headers);
        beginStream(connection);
        connection.response.end(speak(provider, ['ok']).join(''));
      });
      const config = configFor(provider, url, { headers: { 'x-team': 'blue' } });
      await collect(createSdkModel(config, { key: KEY }).stream(ask('hi'), never));
      await collect(createSdkModel(config, {}).stream(ask('hi'), never));
      const names = ['authorization', 'x-api-key', 'x-goog-api-key'];
      const sent = (headers: Record<string, unknown> = {}) =>
        names.filter((name) => headers[name] !== undefined);
      const expected =
        { anthropic: 'x-api-key', google: 'x-goog-api-key' }[provider as string] ?? 'authorization';
      assert.deepEqual([sent(seen[0]), sent(seen[1])], [[expected], []]);
      assert.deepEqual([seen[0]?.['x-team'], seen[1]?.['x-team']], ['blue', 'blue']);
    });
  }
});
