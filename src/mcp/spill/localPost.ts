import { type IncomingMessage, request } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { isLoopback } from '../../base/addresses.ts';
import { ReadAhead } from './readAhead.ts';

/** As much of a reader of `Response.body` as is needed here. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** A response and its body. The response itself may have none. */
export interface Answer {
  readonly response: Response;
  readonly body: BodyReader | undefined;
}

/** Whether `postLocally` can send a request: one for this machine without TLS, which no proxy is asked for. */
export function canPostLocally(url: URL, { method, body }: RequestInit = {}): boolean {
  return url.protocol === 'http:' && isLoopback(url) && method === 'POST' && typeof body === 'string';
}

/**
 * Like `fetch`, which copies each chunk of a body three times: half of the time that a large result takes. It follows
 * no redirect: the SDK does, within the origin of the server.
 */
export async function postLocally(url: URL, init: RequestInit): Promise<Answer> {
  const signal = init.signal ?? undefined;
  signal?.throwIfAborted();
  const message = await send(url, init).catch((error: unknown) => {
    throw signal?.aborted ? signal.reason : new TypeError('fetch failed', { cause: error });
  });
  const { statusCode = 0, statusMessage = '' } = message;
  const response = new Response(null, {
    status: statusCode,
    statusText: statusMessage,
    headers: headersOf(message),
  });
  Object.defineProperty(response, 'url', { value: url.href });
  if (NO_BODY.has(statusCode)) {
    message.resume();
    return { response, body: undefined };
  }
  return { response, body: new MessageReader(decoded(message), message, signal) };
}

export function answerOf(response: Response): Answer {
  return { response, body: response.body?.getReader() };
}

/**
 * Frees a chunk that is no longer used. The garbage collector lets tens of megabytes of them wait, because they are not
 * in its heap. Node 20 cannot free them.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  const isWhole = buffer.byteLength === byteLength;
  if (isWhole && 'transfer' in buffer && typeof buffer.transfer === 'function') buffer.transfer(0);
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function send(url: URL, { headers, body, signal }: RequestInit): Promise<IncomingMessage> {
  // Compressing would only cost time here.
  const all = new Headers({ accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'node' });
  for (const [name, value] of new Headers(headers)) all.set(name, value);
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: Object.fromEntries(all), ...(signal && { signal }) };
    // The listener stays: a request may also fail after its response has begun, which the reader notices.
    request(url, options, resolve).on('error', reject).end(body);
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  return headers;
}

const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Some servers compress although they were asked not to. */
function decoded(message: IncomingMessage): Readable {
  const decoder = DECODERS.get(message.headers['content-encoding']?.trim().toLowerCase() ?? '')?.();
  // The reader notices errors.
  return decoder === undefined ? message : pipeline(message, decoder, () => {});
}

class MessageReader implements BodyReader {
  readonly #chunks: ReadAhead;
  readonly #message: IncomingMessage;
  readonly #signal: AbortSignal | undefined;

  constructor(stream: Readable, message: IncomingMessage, signal: AbortSignal | undefined) {
    this.#message = message;
    this.#signal = signal;
    const { socket } = message;
    // The parser, which comes first, copies what it passes on.
    socket.on('data', release);
    this.#chunks = new ReadAhead(stream, () => socket.off('data', release));
  }

  async read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> {
    const value = await this.#chunks.next().catch((cause: unknown) => {
      throw this.#signal?.aborted ? this.#signal.reason : new TypeError('terminated', { cause });
    });
    return value === undefined ? { done: true } : { done: false, value };
  }

  async cancel(): Promise<void> {
    this.#chunks.cancel();
    // After its end, the connection can be used again.
    if (!this.#message.complete) this.#message.destroy();
  }
}
