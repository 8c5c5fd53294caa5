import { isLoopback } from '../../base/addresses.ts';
import { startTimer, type Timer, unlessAborted } from '../../base/async.ts';
import { BUDGET } from '../../base/budget.ts';
import { BodyTooLargeError, limitBody } from '../../base/httpBody.ts';
import { isObject, parseJson } from '../../base/json.ts';
import type { ModelConfig } from '../config/modelConfig.ts';
import { type Signs, StreamEnd, stopReasonOf } from './endings.ts';
import { errorIn } from './errorBody.ts';
import { ModelError } from './modelError.ts';
import { firstOf, type WireEvent } from './repairs.ts';
import { baseUrlOf, wireOf } from './wire.ts';

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
  /** Whether the whole reply is requested at once. */
  readonly isWhole: boolean;
}

export function hostOf(config: Endpoint): string {
  const baseUrl = baseUrlOf(config);
  if (!URL.canParse(baseUrl)) throw new Error(`The baseUrl ${baseUrl} is not a valid URL.`);
  return new URL(baseUrl).host;
}

/** A whole reply in JSON, whether or not a stream was requested. */
export class WholeReply extends Error {
  readonly json: string;

  constructor(json: string) {
    super('The response is not a stream.');
    this.json = json;
  }
}

/** A `fetch` for one request of the SDK. It follows no redirects and resolves to a stream, or throws a `WholeReply`. */
export function createEndpointFetch(options: EndpointOptions): typeof globalThis.fetch {
  const { config, fetch, onBytes, onAnswer, isWhole } = options;
  return async (input, init) => {
    // A redirect would send the key to another host.
    const response = await fetch(input, { ...init, redirect: 'manual' });
    onBytes();
    await refuseRedirect(response, hostOf(config));
    if (!response.ok) return limitBody(response, { maxBytes: BUDGET.errorBodyBytes, cut: true });
    const { body: limited } = limitBody(response, { maxBytes: BUDGET.replyBytes });
    const { signs } = wireOf(config);
    const streamEnd = new StreamEnd(signs);
    onAnswer?.(streamEnd);
    if (limited === null) return response;
    const { status, statusText, headers } = response;
    const body = new WatchedBody(limited, streamEnd, onBytes);
    return new Response(await body.open(signs, isWhole), { status, statusText, headers });
  };
}

async function refuseRedirect(response: Response, host: string): Promise<void> {
  const { status } = response;
  if (status < 300 || status >= 400) return;
  const target = response.headers.get('location') ?? 'another address';
  const message = `${host} redirects to ${target.slice(0, 200)}. If that is right, set it as the model's baseUrl.`;
  await response.body?.cancel();
  throw new ModelError({ message, failure: { kind: 'format', reason: message }, status });
}

/** How long to wait for the rest of the stream after the stop reason. */
const MAX_TRAILER_MS = 30_000;

class WatchedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #streamEnd: StreamEnd;
  readonly #onBytes: () => void;
  #trailer: Timer | undefined;
  /** The beginning of the body as it was sent. */
  #raw: Uint8Array[] | undefined = [];

  constructor(body: ReadableStream<Uint8Array>, streamEnd: StreamEnd, onBytes: () => void) {
    this.#reader = body.getReader();
    this.#streamEnd = streamEnd;
    this.#onBytes = onBytes;
  }

  /** Resolves when it is known what the body is: a whole reply may also be the only event of a stream. */
  async open(signs: Signs, isWholeRequested: boolean): Promise<ReadableStream<Uint8Array> | string> {
    const begun: string[] = [];
    let failure: unknown;
    try {
      while (this.#streamEnd.kind !== 'page' && !this.#streamEnd.hasBegun) {
        const text = await this.#read();
        // The last line may have no end.
        begun.push(text ?? this.#streamEnd.end());
        if (text === undefined) break;
      }
    } catch (error) {
      failure = error;
    }
    const { kind, first } = this.#streamEnd;
    const raw = this.#raw ?? [];
    this.#raw = undefined;
    if (first && signs.isWhole?.(first)) throw wholeReply(first, signs);
    const events = kind === 'json' ? readEvents(raw, signs) : [];
    const isWhole = (event: WireEvent) =>
      signs.isWhole?.(event) ?? (isWholeRequested && signs.isKnown(event));
    const whole = events.find(isWhole);
    if (whole) throw wholeReply(whole, signs);
    if (events.some((event) => signs.isKnown(event) || errorIn(event))) return this.#toStream(events);
    // JSON that is complete is used although the connection broke after it.
    if (failure !== undefined) throw failure;
    return this.#stream(begun);
  }

  #toStream(events: readonly WireEvent[]): string {
    const lines = [...events.map((event) => JSON.stringify(event)), '[DONE]'];
    const stream = lines.map((line) => `\n\ndata: ${line}\n\n`).join('');
    return `${this.#streamEnd.push(new TextEncoder().encode(stream))}${this.#streamEnd.end()}`;
  }

  #stream(begun: readonly string[]): ReadableStream<Uint8Array> {
    const waiting = [...begun];
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const text = waiting.shift() ?? (this.#streamEnd.isDone ? undefined : await this.#readOrEnd());
        if (text !== undefined) {
          controller.enqueue(new TextEncoder().encode(text));
          return;
        }
        const closing = this.#streamEnd.end();
        if (closing !== '') controller.enqueue(new TextEncoder().encode(closing));
        controller.close();
        this.#trailer?.stop();
        // A rejection would discard what the SDK has not read yet.
        await this.#reader.cancel().catch(() => {});
      },
      cancel: (reason) => {
        this.#trailer?.stop();
        return this.#reader.cancel(reason);
      },
    });
  }

  /** If the connection breaks, the SDK emits what it still holds, and then the stream lacks its end. */
  #readOrEnd(): Promise<string | undefined> {
    return this.#read().catch((error: unknown) => {
      if (error instanceof BodyTooLargeError) throw error;
      return undefined;
    });
  }

  /** A failure after the stop reason ends the stream normally, so that the SDK emits what it still holds. */
  async #read(): Promise<string | undefined> {
    if (!this.#streamEnd.hasEnded) return this.#readNext();
    this.#trailer ??= startTimer(MAX_TRAILER_MS);
    // The reply is complete; only its usage figures may be lost.
    return unlessAborted(this.#readNext(), this.#trailer.signal).catch(() => undefined);
  }

  async #readNext(): Promise<string | undefined> {
    const { value } = await this.#reader.read();
    if (value === undefined) return undefined;
    this.#onBytes();
    this.#raw?.push(value);
    return this.#streamEnd.push(value);
  }
}

function wholeReply(event: WireEvent, { createRepair }: Signs): WholeReply {
  return new WholeReply(JSON.stringify(createRepair?.()(event)[0] ?? event));
}

/** Gemini sends a list of events if the address lacks `alt=sse`, and some gateways a line of JSON for each. */
function readEvents(begun: readonly Uint8Array[], signs: Signs): readonly WireEvent[] {
  const text = new TextDecoder().decode(Buffer.concat(begun));
  const parsed = parseJson(text);
  if (Array.isArray(parsed)) return parsed.filter(isObject);
  const lines = parsed === undefined ? text.trim().split(/\s*\n/).map(parseJson) : [parsed];
  const events = lines.filter(isObject);
  // What follows a first line may be cut off.
  const isLine = parsed === undefined || isObject(firstOf(events[0]?.['choices'])['delta']);
  const hasEnd = !isLine || events.some((event) => stopReasonOf(event, signs) !== undefined);
  return hasEnd && events.length === lines.length ? events : [];
}
