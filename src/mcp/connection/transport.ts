import type { Readable } from 'node:stream';
import {
  type AuthProvider,
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCNotification,
  METHOD_NOT_FOUND,
  type RequestId,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { atMost, deferred } from '../../base/async.ts';
import type { RemoteServer, ServerConfig } from '../config/types.ts';
import { createSpillingFetch } from '../spill/fetch.ts';
import type { PendingRequests } from '../spill/pendingRequests.ts';
import { type Exit, type LateAnswer, StdioTransport } from '../spill/stdio.ts';
import { networkCode } from './explainFailure.ts';
import type { ProcessGuard } from './processGuard.ts';

export interface ServerTransport extends Transport {
  /** Must be read, or the process blocks when the pipe is full. */
  readonly stderr?: Readable;
  /** Undefined while the process runs. */
  readonly exit?: Exit | undefined;
  /** Of a process that was too slow for the protocol probe. */
  readonly lateAnswer?: LateAnswer | undefined;
  /** How often messages of the server may have been missed; undefined while it has no stream for them. */
  readonly breaks: number | undefined;
  /** Ends the session on the server, which closing the transport does not. */
  terminateSession?(): Promise<void>;
}

export interface TransportOptions {
  readonly requests: PendingRequests;
  /** Called when pending calls are lost although the transport stays open. */
  readonly onLost: (reason: string) => void;
  readonly auth?: AuthProvider | undefined;
  readonly guard?: ProcessGuard | undefined;
}

export function createTransport(config: ServerConfig, options: TransportOptions): ServerTransport {
  switch (config.kind) {
    case 'stdio':
      return new StdioTransport({ ...options, server: config }) as ServerTransport;
    case 'http':
      return new WatchedHttpTransport(config, options) as ServerTransport;
    case 'sse':
      return new SpillingSseTransport(config, options);
  }
}

class SpillingSseTransport extends SSEClientTransport {
  readonly breaks = 0;
  readonly #requests: PendingRequests;

  constructor(config: RemoteServer, options: TransportOptions) {
    super(new URL(config.url), httpOptions(config, options.requests, options.auth));
    this.#requests = options.requests;
    // The SDK calls existing handlers before its own.
    this.onmessage = (message) => options.requests.received(message);
    // The event source reconnects, but to a new session that does not know the pending calls.
    this.onerror = (error) => {
      if (error instanceof SseError) options.onLost('the event stream broke');
    };
  }

  override send(message: JSONRPCMessage): Promise<void> {
    this.#requests.sent(message);
    return super.send(message);
  }
}

/** How long to wait for the stream. Most servers answer at once, with a stream or an error. */
const MAX_LISTEN_MS = 3000;

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** Unlike the SDK's transport, it ends requests whose stream ends without a response, for example after a crash. */
class WatchedHttpTransport extends StreamableHTTPClientTransport {
  /** The pending requests; each controller ends a stream. */
  readonly #unanswered = new Map<RequestId, AbortController>();
  readonly #requests: PendingRequests;
  readonly #onLost: (reason: string) => void;
  readonly #stream: { isOpen: boolean; breaks: number };
  /** Settled when the server has answered the GET request for its own requests and notifications. */
  readonly #listening: Promise<void>;
  /** The same with a timeout. Only the older revisions have that stream. */
  #readyForCalls: Promise<void> | undefined;

  constructor(config: RemoteServer, { requests, onLost, auth }: TransportOptions) {
    const stream = { isOpen: false, breaks: 0 };
    const options = httpOptions(config, requests, auth, (init) => {
      if (!opensStream(init)) return;
      stream.isOpen = false;
      stream.breaks += 1;
    });
    const { promise: listening, resolve: listens } = deferred<void>();
    const watchedFetch: FetchLike = async (url, init) => {
      try {
        const response = await options.fetch(url, init);
        if (opensStream(init)) stream.isOpen = response.ok;
        return response;
      } finally {
        if (init?.method === 'GET') listens();
      }
    };
    // The connection requests more scopes, because it can pause its timers for the user.
    super(new URL(config.url), { ...options, fetch: watchedFetch, onInsufficientScope: 'throw' });
    this.#stream = stream;
    this.#listening = listening;
    this.#requests = requests;
    this.#onLost = onLost;
    this.onmessage = (message) => {
      requests.received(message);
      if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
    };
  }

  get breaks(): number | undefined {
    return this.#stream.isOpen ? this.#stream.breaks : undefined;
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.#requests.sent(message);
    if (!('method' in message)) return super.send(message, options);
    if (!('id' in message)) return this.#notify(message, options);
    const { id } = message;
    // The SDK watches the streams of its own requests, except for the protocol probe.
    if (typeof id !== 'number') {
      const onRequestStreamEnd = options?.onRequestStreamEnd ?? (() => this.onmessage?.(unanswered(id)));
      return super.send(message, { ...options, onRequestStreamEnd });
    }
    const abort = new AbortController();
    this.#unanswered.set(id, abort);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.delete(id)) this.#onLost('the connection was lost before the response arrived');
    };
    const given = options?.requestSignal;
    given?.addEventListener('abort', () => this.#unanswered.delete(id), { once: true });
    const requestSignal = AbortSignal.any(given ? [abort.signal, given] : [abort.signal]);
    const send = () => super.send(message, { ...options, onRequestStreamEnd, requestSignal });
    // A request of the server would be lost before its stream is open, and the call would hang.
    const ready = message.method === 'tools/call' ? this.#readyForCalls : undefined;
    return ready === undefined ? send() : ready.then(send);
  }

  /** Closes the stream of a cancelled request, which may stay open. */
  async #notify(notification: JSONRPCNotification, options: SendOptions): Promise<void> {
    const { method, params } = notification;
    // After this notification the SDK requests the stream.
    if (method === 'notifications/initialized') this.#readyForCalls = atMost(MAX_LISTEN_MS, this.#listening);
    const cancelled = method === 'notifications/cancelled' ? (params?.['requestId'] as RequestId) : '';
    const abort = this.#unanswered.get(cancelled);
    this.#unanswered.delete(cancelled);
    try {
      // First, so that the server knows why the stream is closed.
      await super.send(notification, options);
    } finally {
      abort?.abort();
    }
  }
}

/** Whether it asks for the stream of the server's own messages, and not for the rest of a response. */
function opensStream({ method, headers }: RequestInit = {}): boolean {
  return method === 'GET' && !new Headers(headers).has('last-event-id');
}

/** Replaces the response of a server that closed the stream without one. */
function unanswered(id: RequestId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'There was no response.' } };
}

function httpOptions(
  config: RemoteServer,
  requests: PendingRequests,
  auth: AuthProvider | undefined,
  onEnd?: (init: RequestInit | undefined) => void,
): { requestInit: RequestInit; fetch: FetchLike; authProvider?: AuthProvider } {
  return {
    requestInit: { headers: { ...config.headers } },
    fetch: createRetryingFetch(createSpillingFetch(requests, onEnd)),
    ...(auth && { authProvider: auth }),
  };
}

/** Idempotent methods. `tools/call` must never be here. */
const IDEMPOTENT: ReadonlySet<unknown> = new Set([
  'server/discover',
  'initialize',
  'notifications/initialized',
  'ping',
  'logging/setLevel',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/get',
]);
const CONNECTION_LOST: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/** Longer bodies are calls, and are not parsed. */
const MAX_BODY_CHARS = 64 * 1024;

/**
 * A `fetch` that retries idempotent requests once if the connection is lost before a response: a busy server may close
 * an idle connection just when it is used again.
 */
export function createRetryingFetch(send: FetchLike): FetchLike {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      if (!CONNECTION_LOST.has(networkCode(error)) || !isIdempotent(init)) throw error;
      // Lets the pool notice other connections that were closed with this one.
      await new Promise(setImmediate);
      return await send(url, init).catch((second: unknown) => {
        throw init?.signal?.aborted ? second : error;
      });
    }
  };
}

function isIdempotent({ method = 'GET', body }: RequestInit = {}): boolean {
  if (method === 'GET') return true;
  if (method !== 'POST' || typeof body !== 'string' || body.length > MAX_BODY_CHARS) return false;
  try {
    return IDEMPOTENT.has((JSON.parse(body) as { readonly method?: unknown } | null)?.method);
  } catch {
    return false;
  }
}
