import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Follower } from '../follower.ts';
import { createServer } from '../server.ts';
import type { Shared } from '../shared.ts';

/** Serves one client, until it closes the pipe or the signal aborts. */
export async function serveOverStdio(
  shared: Shared,
  options: Omit<LineTransportOptions, 'before'>,
  signal: AbortSignal,
): Promise<void> {
  let follower: Follower | undefined;
  let isListening = false;
  const transport = new LineTransport({
    ...options,
    // The SDK answers this request itself. Watching must begin before, so that no change is missed.
    before: async (message) => {
      if (!('method' in message) || message.method !== 'subscriptions/listen') return;
      isListening = true;
      await follower?.start();
    },
  });
  const handle = serveStdio(
    async ({ era }) => {
      const created = createServer(shared, era);
      follower = created.follower;
      // The request may be the first message.
      if (isListening) await follower.start();
      return created.server;
    },
    { transport, onerror: ({ message }) => shared.log(message) },
  );
  const stop = () => void handle.close();
  signal.addEventListener('abort', stop);
  await transport.ended;
  signal.removeEventListener('abort', stop);
}

export interface LineTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly maxMessageBytes: number;
  /** Follows the reason when a message is too long. */
  readonly advice?: string;
  readonly before?: (message: JSONRPCMessage) => Promise<void>;
}

const NEWLINE = 0x0a;
/** How far from its ends a discarded message is searched for its id. */
const EDGE_BYTES = 1024;

/**
 * Newline-delimited messages. Unlike the SDK's transport it reads long lines in linear time, and rejects a message
 * that is too long instead of closing the connection.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when either side has closed the connection. */
  readonly ended: Promise<void>;
  readonly #options: LineTransportOptions;
  #onEnded: () => void = () => {};
  #line: Buffer[] = [];
  #lineBytes = 0;
  /** The ends of a line that is too long. */
  #head = '';
  #tail = Buffer.alloc(0);
  #closed = false;

  constructor(options: LineTransportOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#onEnded = resolve;
    });
  }

  async start(): Promise<void> {
    const { input, output } = this.#options;
    // The client has closed its end.
    output.on('error', () => void this.close());
    void this.#read(input);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error('The connection is closed.');
    const { output } = this.#options;
    await new Promise<void>((resolve) => output.write(serializeMessage(message), () => resolve()));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#forgetLine();
    this.#options.input.destroy();
    this.onclose?.();
    this.#onEnded();
  }

  async #read(input: Readable): Promise<void> {
    try {
      for await (const chunk of input) {
        await this.#take(chunk as Buffer);
        if (this.#closed) return;
      }
    } catch (error) {
      if (!this.#closed) this.onerror?.(error as Error);
    } finally {
      await this.close();
    }
  }

  async #take(chunk: Buffer): Promise<void> {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#append(chunk.subarray(from, at));
      await this.#endLine();
      from = at + 1;
    }
    this.#append(chunk.subarray(from));
  }

  #append(bytes: Buffer): void {
    const before = this.#lineBytes;
    this.#lineBytes += bytes.length;
    if (this.#lineBytes <= this.#options.maxMessageBytes) {
      if (bytes.length > 0) this.#line.push(bytes);
      return;
    }
    if (before <= this.#options.maxMessageBytes) {
      this.#head = Buffer.concat([...this.#line, bytes], Math.min(this.#lineBytes, EDGE_BYTES)).toString();
      this.#line = [];
    }
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-EDGE_BYTES)]).subarray(-EDGE_BYTES);
  }

  async #endLine(): Promise<void> {
    const isTooLong = this.#lineBytes > this.#options.maxMessageBytes;
    const id = isTooLong ? idAtEdges(this.#head, this.#tail.toString()) : undefined;
    const text = isTooLong ? '' : Buffer.concat(this.#line, this.#lineBytes).toString();
    this.#forgetLine();
    if (isTooLong) await this.#refuse(id);
    else if (text.trim() !== '') await this.#deliver(text);
  }

  async #deliver(text: string): Promise<void> {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(text));
    } catch {
      this.onerror?.(new Error('Ignored a line that is not a JSON-RPC message.'));
      return;
    }
    await this.#options.before?.(message);
    if (!this.#closed) this.onmessage?.(message);
  }

  async #refuse(id: RequestId | undefined): Promise<void> {
    const { maxMessageBytes, advice = '' } = this.#options;
    const reason = `The message is longer than ${maxMessageBytes} bytes. ${advice}`.trimEnd();
    this.onerror?.(new Error(reason));
    if (id === undefined || this.#closed) return;
    await this.send({
      jsonrpc: '2.0',
      id,
      error: { code: ProtocolErrorCode.InvalidRequest, message: reason },
    });
  }

  #forgetLine(): void {
    this.#line = [];
    this.#lineBytes = 0;
    this.#head = '';
    this.#tail = Buffer.alloc(0);
  }
}

const ID = String.raw`(-?\d{1,15}|"[^"\\]{1,200}")`;
const ID_AT_HEAD = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${ID}\s*,`);
const ID_AT_TAIL = new RegExp(String.raw`,\s*"id"\s*:\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/** Only a member of the outermost object can follow its first brace or precede its last. */
function idAtEdges(head: string, tail: string): RequestId | undefined {
  const id = ID_AT_HEAD.exec(head)?.[1] ?? ID_AT_TAIL.exec(tail)?.[1];
  return id === undefined ? undefined : JSON.parse(id);
}
