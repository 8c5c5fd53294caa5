import type { ReadableStreamReadResult } from 'node:stream/web';
import type { ModelConfig } from '../config/models.ts';
import { ModelError } from './failure.ts';
import { StreamEnd } from './streamEnd.ts';
import { baseUrlOf, isSdkProvider } from './wire.ts';

/** Where the providers look for a key. */
export const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

type Endpoint = Pick<ModelConfig, 'provider' | 'baseUrl' | 'headers'>;

/** Without a key there is no header for one: some endpoints refuse an empty one. */
export function headersFor({ provider, headers }: Endpoint, key: string | undefined): Record<string, string> {
  const version = provider === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  return { ...version, ...keyHeader(provider, key), ...headers };
}

function keyHeader(provider: string, key: string | undefined): Readonly<Record<string, string>> {
  if (key === undefined || key === '') return {};
  if (provider === 'anthropic') return { 'x-api-key': key };
  return provider === 'google' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` };
}

export interface EndpointOptions {
  readonly config: ModelConfig;
  readonly fetch: typeof globalThis.fetch;
  /** Called whenever bytes arrive, be they an event or only a sign of life. */
  readonly onBytes: () => void;
  /** Called when the endpoint has accepted the request. It reads what comes before the package does. */
  readonly onAnswer?: ((end: StreamEnd) => void) | undefined;
}

export function hostOf(config: Endpoint): string {
  const baseUrl = baseUrlOf(config);
  if (!URL.canParse(baseUrl)) throw new Error(`The baseUrl ${baseUrl} is not an address.`);
  return new URL(baseUrl).host;
}

/** A `fetch` for one request of a package: it stays with the endpoint, and sees that an answer is a stream. */
export function createEndpointFetch(options: EndpointOptions): typeof globalThis.fetch {
  const { config, fetch, onBytes, onAnswer } = options;
  return async (input, init) => {
    // A key would go along to wherever the endpoint points.
    const response = await fetch(input, { ...init, redirect: 'manual' });
    onBytes();
    await checkAnswer(response, hostOf(config));
    if (response.body === null || !response.ok || !isSdkProvider(config.provider)) return response;
    const end = new StreamEnd(config.provider);
    onAnswer?.(end);
    return watchBody(response, response.body, { end, onBytes });
  };
}

async function checkAnswer(response: Response, host: string): Promise<void> {
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  let message: string | undefined;
  if (status >= 300 && status < 400) {
    const target = response.headers.get('location') ?? 'another address';
    message = `${host} points to ${target.slice(0, 200)}. If that is right, make it the model's baseUrl.`;
  } else if (response.ok && /^(text\/html|application\/json)/i.test(type)) {
    message = `${host} did not answer with a stream but with ${type.slice(0, 60)}. Check the model's baseUrl.`;
  }
  if (message === undefined) return;
  await response.body?.cancel();
  throw new ModelError({ message, status });
}

/** How long the rest of a stream is waited for after the provider has said that the reply is over. */
const MAX_REST_MS = 30_000;

/** What breaks behind the end of a reply is the end of the stream, so that the package hands out what it holds. */
function watchBody(
  response: Response,
  body: ReadableStream<Uint8Array>,
  { end, onBytes }: { readonly end: StreamEnd; readonly onBytes: () => void },
): Response {
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await (end.said ? readRest(reader) : reader.read());
      if (!done) {
        onBytes();
        end.push(value);
        controller.enqueue(value);
        if (!end.isDone) return;
      }
      const closing = end.end();
      if (closing !== '') controller.enqueue(new TextEncoder().encode(closing));
      controller.close();
      if (!done) await reader.cancel();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(watched, { status, statusText, headers });
}

type Chunk = ReadableStreamReadResult<Uint8Array>;

async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Chunk> {
  let timer: NodeJS.Timeout | undefined;
  const over: Chunk = { done: true, value: undefined };
  try {
    const late = new Promise<Chunk>((resolve) => {
      timer = setTimeout(() => resolve(over), MAX_REST_MS);
    });
    return await Promise.race([reader.read(), late]);
  } catch {
    // The connection broke after the reply had ended, which costs nothing but the figures about its use.
    return over;
  } finally {
    clearTimeout(timer);
  }
}
