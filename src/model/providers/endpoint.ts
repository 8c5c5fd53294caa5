import { isLoopback } from '../../base/addresses.ts';
import { startTimer, unlessAborted } from '../../base/async.ts';
import { BUDGET } from '../../base/budget.ts';
import { limitBody } from '../../base/httpBody.ts';
import type { ModelConfig } from '../config/models.ts';
import { ModelError } from './failure.ts';
import { StreamEnd } from './streamEnd.ts';
import { baseUrlOf, isSdkProvider } from './wire.ts';

type Endpoint = Pick<ModelConfig, 'provider' | 'baseUrl' | 'headers'>;

/**
 * Without a key there is no key header, because some endpoints refuse an empty one. Throws if the key would be readable
 * on the network.
 */
export function headersFor(config: Endpoint, key: string | undefined): Record<string, string> {
  const { provider, headers } = config;
  const url = new URL(baseUrlOf(config));
  if (key && url.protocol !== 'https:' && !isLoopback(url)) {
    const message = `The API key was not sent to ${url.host}, because http:// is not encrypted. Use https:// in the baseUrl, or remove the key.`;
    throw new ModelError({ message, failure: { kind: 'failed', reason: message } });
  }
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
  /** Called whenever bytes arrive, also those that only keep the connection alive. */
  readonly onBytes: () => void;
  /** Called when the endpoint has accepted the request. `streamEnd` observes the stream before the SDK does. */
  readonly onAnswer?: ((streamEnd: StreamEnd) => void) | undefined;
}

export function hostOf(config: Endpoint): string {
  const baseUrl = baseUrlOf(config);
  if (!URL.canParse(baseUrl)) throw new Error(`The baseUrl ${baseUrl} is not a valid URL.`);
  return new URL(baseUrl).host;
}

/** A `fetch` for one request of the SDK. It follows no redirects and accepts only streams. */
export function createEndpointFetch(options: EndpointOptions): typeof globalThis.fetch {
  const { config, fetch, onBytes, onAnswer } = options;
  return async (input, init) => {
    // A redirect would send the key to another host.
    const response = await fetch(input, { ...init, redirect: 'manual' });
    onBytes();
    await checkResponse(response, hostOf(config));
    if (!response.ok) return limitBody(response, { maxBytes: BUDGET.errorBodyBytes, cut: true });
    if (response.body === null || !isSdkProvider(config.provider)) return response;
    const streamEnd = new StreamEnd(config.provider);
    onAnswer?.(streamEnd);
    const watched = watchBody(response, response.body, { streamEnd, onBytes });
    return limitBody(watched, { maxBytes: BUDGET.replyBytes });
  };
}

async function checkResponse(response: Response, host: string): Promise<void> {
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  let message: string | undefined;
  if (status >= 300 && status < 400) {
    const target = response.headers.get('location') ?? 'another address';
    message = `${host} redirects to ${target.slice(0, 200)}. If that is right, set it as the model's baseUrl.`;
  } else if (response.ok && /^(text\/html|application\/json)/i.test(type)) {
    message = `${host} responded with ${type.slice(0, 60)} instead of a stream. Check the model's baseUrl.`;
  }
  if (message === undefined) return;
  await response.body?.cancel();
  throw new ModelError({ message, failure: { kind: 'format', reason: message }, status });
}

/** How long to wait for the rest of the stream after the stop reason. */
const MAX_TRAILER_MS = 30_000;

/** A failure after the stop reason ends the stream normally, so that the SDK emits what it still holds. */
function watchBody(
  response: Response,
  body: ReadableStream<Uint8Array>,
  { streamEnd, onBytes }: { readonly streamEnd: StreamEnd; readonly onBytes: () => void },
): Response {
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await (streamEnd.hasEnded ? readTrailer(reader) : reader.read());
      if (!done) {
        onBytes();
        streamEnd.push(value);
        controller.enqueue(value);
        if (!streamEnd.isDone) return;
      }
      const closing = streamEnd.end();
      if (closing !== '') controller.enqueue(new TextEncoder().encode(closing));
      controller.close();
      if (!done) await reader.cancel();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(watched, { status, statusText, headers });
}

async function readTrailer(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const timer = startTimer(MAX_TRAILER_MS);
  try {
    return await unlessAborted(reader.read(), timer.signal);
  } catch {
    // The reply is complete; only its usage figures may be lost.
    return { done: true, value: undefined } as const;
  } finally {
    timer.stop();
  }
}
