/**
 * A model whose every word comes when a test says so: a server on this machine that lists it, and speaks OpenAI's chat
 * wire or that of Anthropic.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { speak, toEvent } from '../../integration/helpers/modelServer.ts';
import type { Evaluate } from '../bridge.ts';

const requestTimeoutMs = 20_000;

export interface HeldModelOptions {
  /** The only one that is accepted. Without it, no key is needed. */
  readonly key?: string;
  readonly wire?: Wire;
  readonly models?: readonly object[];
}

export interface HeldModel {
  /** How often it was asked. */
  readonly asked: number;
  readonly address: string;
  /** Changes the only key that is accepted. */
  replaceKey(key: string): void;
  /** Makes it the model of chats that name none. */
  use(evaluate: Evaluate): Promise<void>;
  /** Resolves when it is asked; one request after the other. */
  next(): Promise<HeldReply>;
}

/** Registers the server with the tests of one file. */
export function heldModel({
  key,
  wire = 'openai-compatible',
  models = [{ id: 'held-1' }],
}: HeldModelOptions = {}): HeldModel {
  let accepted = key;
  const waiting: HeldReply[] = [];
  const waiters: ((reply: HeldReply) => void)[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    if (accepted !== undefined && keyOf(request) !== accepted)
      return sendJson(response, 401, {
        error: { type: 'authentication_error', message: 'invalid x-api-key' },
      });
    if (request.method === 'GET') return sendJson(response, 200, { data: models });
    void request.toArray().then((pieces: Buffer[]) => {
      asked += 1;
      const reply = new HeldReply(request, Buffer.concat(pieces).toString(), response, wire);
      const waiter = waiters.shift();
      if (waiter) waiter(reply);
      else waiting.push(reply);
    });
  });
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    get asked() {
      return asked;
    },
    get address() {
      return address();
    },
    replaceKey: (next) => {
      accepted = next;
    },
    use: (evaluate) =>
      evaluate(async (vscode, baseUrl) => {
        const held = { provider: 'openai-compatible', model: 'held-1', baseUrl };
        await vscode.workspace
          .getConfiguration('filechat')
          .update('models', { held: { ...held, price: { input: 1, output: 2 } } }, true);
      }, address()),
    next: async () => {
      const { promise, resolve } = Promise.withResolvers<HeldReply>();
      const asked = waiting.shift();
      if (asked) return asked;
      waiters.push(resolve);
      // Whoever gives up must not take the next request away.
      return inTime(promise).finally(() => waiters.splice(waiters.indexOf(resolve) >>> 0, 1));
    },
  };
}

/** One request, and the reply to it as far as the test has let it come. */
export class HeldReply {
  readonly #response: ServerResponse;
  readonly #wire: Wire;
  /** What was sent. */
  readonly body: string;
  readonly authorization: string | undefined;
  /** Resolves when the other side is gone. */
  readonly closed: Promise<unknown>;

  constructor(request: IncomingMessage, body: string, response: ServerResponse, wire: Wire) {
    this.authorization = request.headers.authorization;
    this.body = body;
    this.#response = response;
    this.#wire = wire;
    this.closed = once(response, 'close');
  }

  say(text: string): void {
    this.#write(...WIRES[this.#wire].text(text));
  }

  call(name: string, args: object, index = 0): void {
    this.#write(...WIRES[this.#wire].call(name, args, index));
  }

  finish(reason: Reason = 'stop'): void {
    this.#write(...WIRES[this.#wire].end(reason));
    this.#response.end();
  }

  /** Answers that it cannot answer now. */
  refuse(
    status: number,
    headers: Readonly<Record<string, string>> = {},
    error: object = { message: 'Too many at once.' },
  ): void {
    sendJson(this.#response, status, { error }, headers);
  }

  #write(...events: readonly string[]): void {
    if (!this.#response.headersSent) {
      this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.#response.write(WIRES[this.#wire].start);
    }
    this.#response.write(events.join(''));
  }
}

type Wire = 'openai-compatible' | 'anthropic';
type Reason = 'stop' | 'tool_calls' | 'length';

/** The events of a reply. */
interface Events {
  readonly start: string;
  text(text: string): readonly string[];
  call(name: string, args: object, index: number): readonly string[];
  end(reason: Reason): readonly string[];
}

const [input, output] = [1200, 30];

const WIRES: Readonly<Record<Wire, Events>> = {
  'openai-compatible': {
    start: '',
    text: (text) => speak('openai-compatible', [text]).slice(0, 1),
    call: (name, args, index) => {
      const { id, type } = { id: `call_${index + 1}`, type: 'function' };
      const call = { index, id, type, function: { name, arguments: JSON.stringify(args) } };
      return [chunk({ delta: { tool_calls: [call] } })];
    },
    end: (reason) => [
      chunk({ delta: {}, finish_reason: reason }),
      toEvent({
        id: 'c',
        object: 'chat.completion.chunk',
        choices: [],
        usage: { prompt_tokens: input, completion_tokens: output },
      }),
      'data: [DONE]\n\n',
    ],
  },
  anthropic: {
    start: speak('anthropic', []).slice(0, 2).join(''),
    text: (text) => speak('anthropic', [text]).slice(2, 3),
    call: (name, args, index) =>
      [
        {
          type: 'content_block_start',
          content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
        },
        {
          type: 'content_block_delta',
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
        },
        { type: 'content_block_stop' },
      ].map((event) => toEvent({ ...event, index: index + 1 })),
    end: (reason) => {
      const stop = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens' }[reason];
      const usage = { input_tokens: input, output_tokens: output };
      return [
        toEvent({ type: 'content_block_stop', index: 0 }),
        toEvent({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage }),
        toEvent({ type: 'message_stop' }),
      ];
    },
  },
};

function keyOf({ headers: { 'x-api-key': own, authorization = '' } }: IncomingMessage): unknown {
  return own ?? authorization.replace(/^Bearer /, '');
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

function chunk(choice: object): string {
  return toEvent({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] });
}

async function inTime(reply: Promise<HeldReply>): Promise<HeldReply> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The model was not asked.')), requestTimeoutMs);
  return Promise.race([reply, promise]).finally(() => clearTimeout(timer));
}
