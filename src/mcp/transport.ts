import type { Readable } from 'node:stream';
import {
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { RemoteServer, ServerConfig, StdioServer } from './config.ts';

/** A way to one server, not yet opened. */
export interface Channel {
  readonly transport: Transport;
  /** What a process writes for people to read. Someone has to read it, or the process stops when the pipe is full. */
  readonly stderr?: Readable;
  /** Says goodbye where closing the transport does not. */
  endSession?(): Promise<void>;
}

/**
 * The largest message that a process may send: one asset of 50 MiB as base64, and room for text.
 * Without a limit, a server that never ends its line would take all memory.
 */
const MAX_STDIO_MESSAGE_BYTES = 80 * 1024 * 1024;

/** `onLost` is told of breaks that the transport survives but the calls under way do not. */
export function createChannel(config: ServerConfig, onLost: (reason: string) => void): Channel {
  switch (config.kind) {
    case 'stdio':
      return stdioChannel(config);
    case 'http':
      return httpChannel(config, onLost);
    case 'sse':
      return sseChannel(config, onLost);
  }
}

function stdioChannel(config: StdioServer): Channel {
  const transport = new StdioClientTransport({
    command: config.command,
    args: [...config.args],
    // The SDK adds PATH, HOME and a few more to these, and nothing else of our own environment.
    env: { ...config.env },
    stderr: 'pipe',
    maxBufferSize: MAX_STDIO_MESSAGE_BYTES,
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
  });
  return { transport, ...(transport.stderr ? { stderr: transport.stderr as Readable } : {}) };
}

function httpChannel(config: RemoteServer, onLost: (reason: string) => void): Channel {
  const transport = new WatchedHttpTransport(config, onLost);
  return { transport: transport as Transport, endSession: () => transport.terminateSession() };
}

function sseChannel(config: RemoteServer, onLost: (reason: string) => void): Channel {
  const transport = new SSEClientTransport(new URL(config.url), requestInit(config));
  // The event source connects anew by itself, but to a new session that knows nothing of the calls under way.
  transport.onerror = (error) => {
    if (error instanceof SseError) {
      onLost('the event stream broke');
    }
  };
  return { transport };
}

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * The SDK's transport lets a request wait for its timeout when the answer's stream ends without an answer,
 * for instance because the server died. This one notices.
 */
class WatchedHttpTransport extends StreamableHTTPClientTransport {
  readonly #unanswered = new Set<RequestId>();
  readonly #onLost: (reason: string) => void;

  constructor(config: RemoteServer, onLost: (reason: string) => void) {
    super(new URL(config.url), requestInit(config));
    this.#onLost = onLost;
    // The protocol layer calls a handler that it finds here before its own.
    this.onmessage = (message) => {
      if (!('method' in message) && message.id !== undefined) {
        this.#unanswered.delete(message.id);
      }
    };
  }

  override send(message: JSONRPCMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) {
      return super.send(message, options);
    }
    if (!('id' in message)) {
      this.#forgetCancelled(message.method, message.params);
      return super.send(message, options);
    }
    const { id } = message;
    this.#unanswered.add(id);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.delete(id)) {
        this.#onLost('the connection broke before the answer came');
      }
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }

  /** The answer of a cancelled request may end in silence. */
  #forgetCancelled(method: string, params: Readonly<Record<string, unknown>> | undefined): void {
    if (method === 'notifications/cancelled') {
      this.#unanswered.delete(params?.['requestId'] as RequestId);
    }
  }
}

function requestInit(config: RemoteServer): { requestInit: RequestInit } {
  return { requestInit: { headers: { ...config.headers } } };
}
