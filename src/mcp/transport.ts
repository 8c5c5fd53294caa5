import type { Readable } from 'node:stream';
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type RequestId,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { RemoteServer, ServerConfig, StdioServer } from './config.ts';
import { PendingCalls } from './spill/pendingCalls.ts';
import { createSpillingFetch } from './spill/spillingFetch.ts';
import { type Exit, StdioTransport } from './spill/stdioTransport.ts';

/** A way to one server, not yet opened. */
export interface Channel {
  readonly transport: Transport;
  /** What a process writes for people to read. Someone has to read it, or the process stops when the pipe is full. */
  readonly stderr?: Readable;
  /** How its process ended; nothing while it lives. */
  exit?(): Exit | undefined;
  /** Says goodbye where closing the transport does not. */
  endSession?(): Promise<void>;
}

/** `onLost` is told of breaks that the transport survives but the calls under way do not. */
export function createChannel(config: ServerConfig, onLost: (reason: string) => void): Channel {
  switch (config.kind) {
    case 'stdio':
      return stdioChannel(config, onLost);
    case 'http':
      return httpChannel(config, onLost);
    case 'sse':
      return sseChannel(config, onLost);
  }
}

function stdioChannel(server: StdioServer, onLost: (reason: string) => void): Channel {
  const transport = new StdioTransport({ server, onLost });
  const exit = () => transport.exit;
  return { transport: transport as Transport, stderr: transport.stderr, exit };
}

function httpChannel(config: RemoteServer, onLost: (reason: string) => void): Channel {
  const transport = new WatchedHttpTransport(config, onLost);
  return { transport: transport as Transport, endSession: () => transport.terminateSession() };
}

function sseChannel(config: RemoteServer, onLost: (reason: string) => void): Channel {
  const transport = new SpillingSseTransport(config);
  // The event source connects anew by itself, but to a new session that knows nothing of the calls under way.
  transport.onerror = (error) => {
    if (error instanceof SseError) {
      onLost('the event stream broke');
    }
  };
  return { transport };
}

class SpillingSseTransport extends SSEClientTransport {
  readonly #calls: PendingCalls;

  constructor(config: RemoteServer) {
    const calls = new PendingCalls();
    super(new URL(config.url), { ...requestInit(config), fetch: createSpillingFetch({ calls }) });
    this.#calls = calls;
    // The protocol layer calls a handler that it finds here before its own.
    this.onmessage = (message) => calls.received(message);
  }

  override send(message: JSONRPCMessage): Promise<void> {
    this.#calls.sent(message);
    return super.send(message);
  }
}

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * The SDK's transport lets a request wait for its timeout when the answer's stream ends without an answer,
 * for instance because the server died. This one notices.
 */
class WatchedHttpTransport extends StreamableHTTPClientTransport {
  /** The requests without an answer, each with what ends its stream. */
  readonly #unanswered = new Map<RequestId, AbortController>();
  readonly #calls: PendingCalls;
  readonly #onLost: (reason: string) => void;

  constructor(config: RemoteServer, onLost: (reason: string) => void) {
    const calls = new PendingCalls();
    super(new URL(config.url), { ...requestInit(config), fetch: createSpillingFetch({ calls }) });
    this.#calls = calls;
    this.#onLost = onLost;
    // The protocol layer calls a handler that it finds here before its own.
    this.onmessage = (message) => {
      calls.received(message);
      if (!('method' in message) && message.id !== undefined) {
        this.#unanswered.delete(message.id);
      }
    };
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    this.#calls.sent(message);
    if (!('method' in message)) {
      return super.send(message, options);
    }
    if (!('id' in message)) {
      return this.#notify(message, options);
    }
    const { id } = message;
    const abort = new AbortController();
    this.#unanswered.set(id, abort);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.delete(id)) {
        this.#onLost('the connection broke before the answer came');
      }
    };
    const signals = options?.requestSignal ? [abort.signal, options.requestSignal] : [abort.signal];
    return super.send(message, { ...options, onRequestStreamEnd, requestSignal: AbortSignal.any(signals) });
  }

  /** The stream of a cancelled request is closed: it may be long, and it may end in silence. */
  async #notify(notification: JSONRPCNotification, options: SendOptions): Promise<void> {
    const { method, params } = notification;
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

function requestInit(config: RemoteServer): { requestInit: RequestInit } {
  return { requestInit: { headers: { ...config.headers } } };
}
