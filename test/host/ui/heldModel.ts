/** A model whose every word comes when a test says so: a server on this machine that speaks OpenAI's chat wire. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { speak, toEvent } from '../../integration/helpers/modelServer.ts';
import type { Evaluate } from '../bridge.ts';

const requestTimeoutMs = 20_000;

export interface HeldModel {
  /** How often it was asked. */
  readonly asked: number;
  readonly address: string;
  /** Makes it the model of chats that name none. */
  use(evaluate: Evaluate): Promise<void>;
  /** Resolves when it is asked; one request after the other. */
  next(): Promise<HeldReply>;
}

/** Registers the server with the tests of one file. */
export function heldModel(): HeldModel {
  const waiting: HeldReply[] = [];
  const waiters: ((reply: HeldReply) => void)[] = [];
  let asked = 0;
  const server = createServer((request, response) => {
    void request.toArray().then((pieces: Buffer[]) => {
      asked += 1;
      const reply = new HeldReply(request, Buffer.concat(pieces).toString(), response);
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
  /** What was sent. */
  readonly body: string;
  readonly authorization: string | undefined;
  /** Resolves when the other side is gone. */
  readonly closed: Promise<unknown>;

  constructor(request: IncomingMessage, body: string, response: ServerResponse) {
    this.authorization = request.headers.authorization;
    this.body = body;
    this.#response = response;
    this.closed = once(response, 'close');
  }

  say(text: string): void {
    this.#write(speak('openai-compatible', [text])[0] ?? '');
  }

  call(name: string, args: object): void {
    const { id, type } = { id: 'call_1', type: 'function' };
    const call = { index: 0, id, type, function: { name, arguments: JSON.stringify(args) } };
    this.#write(chunk({ delta: { tool_calls: [call] } }));
  }

  finish(reason: 'stop' | 'tool_calls' | 'length' = 'stop'): void {
    this.#write(chunk({ delta: {}, finish_reason: reason }));
    const usage = { prompt_tokens: 1200, completion_tokens: 30 };
    this.#write(toEvent({ id: 'c', object: 'chat.completion.chunk', choices: [], usage }));
    this.#response.end('data: [DONE]\n\n');
  }

  /** Answers that it cannot answer now. */
  refuse(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.#response.end(JSON.stringify({ error: { message: 'Too many at once.' } }));
  }

  #write(event: string): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#response.write(event);
  }
}

function chunk(choice: object): string {
  return toEvent({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] });
}

async function inTime(reply: Promise<HeldReply>): Promise<HeldReply> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('The model was not asked.')), requestTimeoutMs);
  return Promise.race([reply, promise]).finally(() => clearTimeout(timer));
}
