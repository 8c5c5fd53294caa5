import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { isLoopback } from '../../base/addresses.ts';

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

/** What may arrive before it is read; more stays with the server. */
const MAX_WAITING_BYTES = 256 * 1024;

/** Reads a body chunk by chunk as it comes from the socket. An iterator of the stream would be slower. */
class MessageReader implements BodyReader {
  readonly #stream: Readable;
  readonly #message: IncomingMessage;
  readonly #socket: Socket;
  readonly #signal: AbortSignal | undefined;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(stream: Readable, message: IncomingMessage, signal: AbortSignal | undefined) {
    this.#stream = stream;
    this.#message = message;
    this.#socket = message.socket;
    this.#signal = signal;
    // The parser, which comes first, copies what it passes on.
    this.#socket.on('data', release);
    stream
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => this.#end())
      .on('error', (error) => this.#end(error))
      .on('close', () => this.#end(new Error('The connection was closed.')));
  }

  async read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> {
    while (this.#waiting.length === 0 && !this.#ended) {
      if (this.#stream.isPaused()) this.#stream.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const value = this.#waiting.shift();
    if (value !== undefined) {
      this.#bytes -= value.length;
      return { done: false, value };
    }
    if (this.#error === undefined) return { done: true };
    throw this.#signal?.aborted ? this.#signal.reason : new TypeError('terminated', { cause: this.#error });
  }

  async cancel(): Promise<void> {
    this.#waiting = [];
    this.#end();
    // After its end, the connection can be used again.
    if (!this.#message.complete) this.#message.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#ended) return;
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= MAX_WAITING_BYTES) this.#stream.pause();
    this.#wake?.();
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.off('data', release);
    this.#error = error;
    this.#wake?.();
  }
}
