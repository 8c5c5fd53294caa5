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
import type { RemoteServer, ServerConfig, StdioServer } from '../config/types.ts';
import { createSpillingFetch } from '../spill/fetch.ts';
import { type Exit, StdioTransport } from '../spill/stdio.ts';
import { PendingRequests } from '../spill/tickets.ts';
import type { LateAnswer } from './clientSetup.ts';
import type { ProcessGuard } from './processGuard.ts';
import { createRetryingFetch } from './retryingFetch.ts';

/** A way to one server, not yet opened. */
export interface Channel {
  readonly transport: Transport;
  /** What a process writes for people to read. Someone has to read it, or the process stops when the pipe is full. */
  readonly stderr?: Readable;
  /** How its process ended; nothing while it lives. */
  exit?(): Exit | undefined;
  /** What a slow process had to say to the question about its revision; nothing when it was not too slow. */
  lateAnswer?(): LateAnswer | undefined;
  /** Says goodbye where closing the transport does not. */
  endSession?(): Promise<void>;
}

export interface ChannelOptions {
  /** Told of breaks that the transport survives but the calls under way do not. */
  readonly onLost: (reason: string) => void;
  readonly auth?: AuthProvider | undefined;
  readonly guard?: ProcessGuard | undefined;
  readonly maxDroppedBytes?: number | undefined;
}

export function createChannel(config: ServerConfig, options: ChannelOptions): Channel {
  switch (config.kind) {
    case 'stdio':
      return stdioChannel(config, options);
    case 'http':
      return httpChannel(config, options);
    case 'sse':
      return sseChannel(config, options);
  }
}

function stdioChannel(server: StdioServer, { onLost, guard, maxDroppedBytes }: ChannelOptions): Channel {
  const transport = new StdioTransport({ server, onLost, guard, maxDroppedBytes });
  const exit = () => transport.exit;
  const lateAnswer = () => transport.lateAnswer;
  return { transport: transport as Transport, stderr: transport.stderr, exit, lateAnswer };
}

function httpChannel(config: RemoteServer, options: ChannelOptions): Channel {
  const transport = new WatchedHttpTransport(config, options);
  return { transport: transport as Transport, endSession: () => transport.terminateSession() };
}

function sseChannel(config: RemoteServer, options: ChannelOptions): Channel {
  const transport = new SpillingSseTransport(config, options);
  // The event source connects anew by itself, but to a new session that knows nothing of the calls under way.
  transport.onerror = (error) => {
    if (error instanceof SseError) {
      options.onLost('the event stream broke');
    }
  };
  return { transport };
}

class SpillingSseTransport extends SSEClientTransport {
  readonly #requests: PendingRequests;

  constructor(config: RemoteServer, options: ChannelOptions) {
    const requests = new PendingRequests();
    super(new URL(config.url), transportOptions(config, requests, options));
    this.#requests = requests;
    // The protocol layer calls a handler that it finds here before its own.
    this.onmessage = (message) => requests.received(message);
  }

  override send(message: JSONRPCMessage): Promise<void> {
    this.#requests.sent(message);
    return super.send(message);
  }
}

/** Servers answer at once, with a stream or a refusal; one that does neither is not waited for. */
const LISTEN_MS = 3000;

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * The SDK's transport lets a request wait for its timeout when the answer's stream ends without an answer,
 * for instance because the server died. This one notices.
 */
class WatchedHttpTransport extends StreamableHTTPClientTransport {
  /** The requests without an answer, each with what ends its stream. */
  readonly #unanswered = new Map<RequestId, AbortController>();
  readonly #requests: PendingRequests;
  readonly #onLost: (reason: string) => void;
  /** Settled when the server has answered the request for the stream on which it asks things by itself. */
  readonly #listening: Promise<void>;
  /** The same, but no longer than it may take. Only the older revisions have that stream. */
  #readyForCalls: Promise<void> | undefined;

  constructor(config: RemoteServer, channel: ChannelOptions) {
    const requests = new PendingRequests();
    const options = transportOptions(config, requests, channel);
    const { promise: listening, resolve: listens } = deferred<void>();
    const watchedFetch: FetchLike = async (url, init) => {
      try {
        return await options.fetch(url, init);
      } finally {
        if (init?.method === 'GET') listens();
      }
    };
    // More scopes are asked for by the connection, which can tell its timers to wait for the user.
    super(new URL(config.url), { ...options, fetch: watchedFetch, onInsufficientScope: 'throw' });
    this.#listening = listening;
    this.#requests = requests;
    this.#onLost = channel.onLost;
    // The protocol layer calls a handler that it finds here before its own.
    this.onmessage = (message) => {
      requests.received(message);
      if (!('method' in message) && message.id !== undefined) {
        this.#unanswered.delete(message.id);
      }
    };
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.#requests.sent(message);
    if (!('method' in message)) {
      return super.send(message, options);
    }
    if (!('id' in message)) {
      return this.#notify(message, options);
    }
    const { id } = message;
    // The SDK minds the streams of its own requests itself, all but the one with which it finds out the revision.
    if (typeof id !== 'number') {
      const onRequestStreamEnd = options?.onRequestStreamEnd ?? (() => this.onmessage?.(unanswered(id)));
      return super.send(message, { ...options, onRequestStreamEnd });
    }
    const abort = new AbortController();
    this.#unanswered.set(id, abort);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.delete(id)) {
        this.#onLost('the connection broke before the answer came');
      }
    };
    const given = options?.requestSignal;
    given?.addEventListener('abort', () => this.#unanswered.delete(id), { once: true });
    const requestSignal = AbortSignal.any(given ? [abort.signal, given] : [abort.signal]);
    const send = () => super.send(message, { ...options, onRequestStreamEnd, requestSignal });
    // What the server asks before its stream is open would be lost, and the call would wait for ever.
    const ready = message.method === 'tools/call' ? this.#readyForCalls : undefined;
    return ready === undefined ? send() : ready.then(send);
  }

  /** The stream of a cancelled request is closed: it may be long, and it may end in silence. */
  async #notify(notification: JSONRPCNotification, options: SendOptions): Promise<void> {
    const { method, params } = notification;
    // After this the SDK asks for the stream.
    if (method === 'notifications/initialized') this.#readyForCalls = atMost(LISTEN_MS, this.#listening);
    const cancelled = method === 'notifications/cancelled' ? (params?.['requestId'] as RequestId) : '';
    const abort = this.#unanswered.get(cancelled);
    this.#unanswered.delete(cancelled);
    try {
      // First, so that the server takes the closed stream for what it is.
      await super.send(notification, options);
    } finally {
      abort?.abort();
    }
  }
}

/** Said in the place of a server that ended the stream of a request without an answer. */
function unanswered(id: RequestId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'There was no answer.' } };
}

function transportOptions(
  config: RemoteServer,
  requests: PendingRequests,
  { auth, maxDroppedBytes }: ChannelOptions,
): { requestInit: RequestInit; fetch: FetchLike; authProvider?: AuthProvider } {
  return {
    requestInit: { headers: { ...config.headers } },
    fetch: createRetryingFetch(createSpillingFetch({ requests, maxDroppedBytes })),
    ...(auth === undefined ? {} : { authProvider: auth }),
  };
}
