import assert from 'node:assert/strict';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { LLMock } from '@copilotkit/aimock';
import type { ModelConfig } from '../../../src/model/config/modelConfig.ts';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import type { ChatModel, ModelEvent, ModelRequest } from '../../../src/ports/models.ts';
import type { Cleanup } from '../../kit/folder.ts';
import { serveHttp } from '../../kit/http.ts';

export const PROVIDERS: readonly SdkProvider[] = [
  'anthropic',
  'openai',
  'openai-chat',
  'openai-compatible',
  'google',
];

const MODELS: Readonly<Record<SdkProvider, string>> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  'openai-chat': 'gpt-4o',
  'openai-compatible': 'some-model',
  google: 'gemini-2.5-flash',
};

export const KEY = 'sk-secret-key-1234';

/** A model of this provider on a local server. */
export function configFor(provider: SdkProvider, url: string, more: Partial<ModelConfig> = {}): ModelConfig {
  const baseUrl = `${url}/${provider === 'google' ? 'v1beta' : 'v1'}`;
  return { name: provider, provider, model: MODELS[provider], baseUrl, ...more };
}

export function ask(text: string): ModelRequest {
  return { system: 'Be terse.', messages: [{ role: 'user', parts: [{ kind: 'text', text }] }], tools: [] };
}

export async function startMock(t: TestContext, chunkSize = 5): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize });
  t.after(() => mock.stop());
  await mock.start();
  return mock;
}

/** A `fetch` that keeps each body. */
export function recordBodies(): { readonly fetch: typeof fetch; readonly bodies: Record<string, unknown>[] } {
  const bodies: Record<string, unknown>[] = [];
  return {
    bodies,
    fetch: (input, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return fetch(input, init);
    },
  };
}

/** A server that forwards everything to another, and keeps each body as it was sent. */
export async function startRecorder(
  cleanup: Cleanup,
  target: string,
): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const bodies: string[] = [];
  const url = await serveHttp(cleanup, async (incoming, outgoing) => {
    const body = await readText(incoming);
    bodies.push(body);
    const { method, headers } = incoming;
    const passed = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.end(body);
  });
  return { url, bodies };
}

export interface Connection {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>;
}

/** A server that the test controls byte by byte. */
export function startRawServer(t: Cleanup, answer: (connection: Connection) => void): Promise<string> {
  return serveHttp(t, (request, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.once('end', () => answer({ request, response, body, closed }));
  });
}

export function beginStream({ response }: Connection): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** The text of a whole reply on the wire, one string for each event. */
export function speak(provider: SdkProvider, deltas: readonly string[]): readonly string[] {
  return WIRE[provider]
    .trim()
    .split('\n')
    .flatMap((line) =>
      line.includes(DELTA) ? deltas.map((delta) => line.replace(DELTA, () => JSON.stringify(delta))) : [line],
    )
    .map((line) => toEvent(JSON.parse(line)));
}

/** A reply up to its first text, `Hi `. */
export function beginning(provider: SdkProvider): string {
  const events = speak(provider, ['Hi ']);
  return events.slice(0, events.findIndex((event) => event.includes('Hi ')) + 1).join('');
}

export function toEvent(data: object): string {
  const type = 'type' in data && typeof data.type === 'string' ? `event: ${data.type}\n` : '';
  return `${type}data: ${JSON.stringify(data)}\n\n`;
}

/** In the line that is sent for each piece of text. */
const DELTA = '"…"';

const CHUNKS = `
{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"…"}}]}
{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":17,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":5}}}
`;

const WIRE: Readonly<Record<SdkProvider, string>> = {
  anthropic: `
{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5,"cache_creation_input_tokens":2}}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"…"}}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}
{"type":"message_stop"}
`,
  openai: `
{"type":"response.created","response":{"id":"r","created_at":1,"model":"gpt"}}
{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1"}}
{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"…"}
{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1"}}
{"type":"response.completed","response":{"usage":{"input_tokens":17,"input_tokens_details":{"cached_tokens":5},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":0}}}}
`,
  'openai-chat': CHUNKS,
  'openai-compatible': CHUNKS,
  google: `
{"candidates":[{"content":{"role":"model","parts":[{"text":"…"}]}}]}
{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":17,"cachedContentTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":24}}
`,
};

/** How each provider reports an error in a stream that began normally. */
export const ERROR_EVENTS: Readonly<Record<SdkProvider, object>> = {
  anthropic: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  openai: { type: 'error', code: 'server_error', message: 'Something broke', sequence_number: 9 },
  'openai-chat': { error: { message: 'Something broke', type: 'server_error', code: null } },
  'openai-compatible': { error: { message: 'Something broke', type: 'server_error', code: 502 } },
  google: { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
};

export async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.kind === 'text' ? event.text : '')).join('');
}

/** Removes the messages of a body, so that the rest can be compared. */
export const EMPTY_MESSAGES = { messages: undefined, input: undefined, contents: undefined };

export function messagesOf(body: Record<string, unknown> | undefined): readonly unknown[] {
  const messages = body?.['messages'] ?? body?.['input'] ?? body?.['contents'];
  return Array.isArray(messages) ? messages : [];
}

export function withoutMarks(messages: readonly unknown[]): readonly unknown[] {
  const text = JSON.stringify(messages).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
  return JSON.parse(text) as readonly unknown[];
}

function walk(value: unknown, visit: (owner: Record<string, unknown>) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value as Record<string, unknown>);
  for (const each of Object.values(value)) walk(each, visit);
}

/** Every image of a body, in the format of any provider. */
export function imagesOf(body: unknown): readonly string[] {
  const found: string[] = [];
  walk(body, (owner) => {
    const { media_type: anthropic, mimeType: google, data, image_url: url } = owner;
    if (typeof data === 'string') found.push(`${anthropic ?? google} ${data}`);
    const address = typeof url === 'string' ? url : (url as { url?: string } | undefined)?.url;
    const parts = /^data:(.*);base64,(.*)$/.exec(address ?? '');
    if (parts) found.push(`${parts[1]} ${parts[2]}`);
  });
  return found;
}

/** Every text that a model would read as text. */
export function textsOf(body: unknown): readonly string[] {
  const found: string[] = [];
  walk(body, (owner) => {
    for (const key of ['text', 'content', 'output', 'arguments']) {
      if (typeof owner[key] === 'string') found.push(owner[key]);
    }
  });
  return found;
}

export interface Failure {
  readonly message: string;
  readonly retryable: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Streams a reply that fails; resolves to its text and its failure. */
export async function runToFailure(
  model: ChatModel,
  onText: () => void = () => {},
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly text: string; readonly failure: Failure }> {
  let text = '';
  try {
    for await (const event of model.stream(ask('hi'), signal)) {
      if (event.kind !== 'text') continue;
      text += event.text;
      onText();
    }
  } catch (error) {
    assert.equal((error as { kind?: string }).kind, 'modelFailure');
    return { text, failure: error as Failure & Error };
  }
  throw new assert.AssertionError({ message: `It did not fail: ${text}` });
}
