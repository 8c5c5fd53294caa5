import type { ModelConfig } from '../config.ts';
import { ModelError } from './failure.ts';
import { baseUrlOf } from './wire.ts';

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
}

export function hostOf(config: Endpoint): string {
  const baseUrl = baseUrlOf(config);
  if (!URL.canParse(baseUrl)) throw new Error(`The baseUrl ${baseUrl} is not an address.`);
  return new URL(baseUrl).host;
}

/** A `fetch` for one request of a package: it stays with the endpoint, and sees that an answer is a stream. */
export function createEndpointFetch({ config, fetch, onBytes }: EndpointOptions): typeof globalThis.fetch {
  return async (input, init) => {
    // A key would go along to wherever the endpoint points.
    const response = await fetch(input, { ...init, redirect: 'manual' });
    onBytes();
    await checkAnswer(response, hostOf(config));
    return response.body === null ? response : watchBody(response, response.body, onBytes);
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

function watchBody(response: Response, body: ReadableStream<Uint8Array>, onBytes: () => void): Response {
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes();
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(body.pipeThrough(watch), { status, statusText, headers });
}
