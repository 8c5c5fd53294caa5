import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request on the wire of OpenAI's chat completions, which most servers speak. */
export interface Asked {
  readonly number: number;
  readonly body: string;
  readonly response: ServerResponse;
  /** Resolves when the other side is gone. */
  readonly closed: Promise<void>;
}

export interface WireServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Resolves when so many requests have come. */
  came(count: number): Promise<void>;
}

/** A server that does what a test says; `stop` is called with what ends it. */
export async function startWireServer(
  answer: (asked: Asked) => void,
  onEnd: (stop: () => void) => void,
): Promise<WireServer> {
  const asked: Asked[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      const each = {
        number: asked.length + 1,
        body: Buffer.concat(pieces).toString('utf8'),
        response,
        closed,
      };
      asked.push(each);
      for (const look of waiting) look();
      answer(each);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const came = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => asked.length >= count && resolve();
      waiting.push(look);
      look();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked, came };
}

type Delta = Readonly<Record<string, unknown>>;

function chunk(delta: Delta, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const body = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
  return `data: ${JSON.stringify(body)}\n\n`;
}

export const words = (content: string): string => chunk({ role: 'assistant', content });
export const toolCall = (index: number, id: string, name: string, text: string): string =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] });
export const end = (reason = 'stop'): string => `${chunk({}, reason)}data: [DONE]\n\n`;

/** Begins a stream, and sends these pieces of it. Resolves when they are with the system. */
export function send({ response }: Asked, ...pieces: readonly string[]): Promise<void> {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  return new Promise((resolve) => response.write(pieces.join(''), () => resolve()));
}

export function sendAll(asked: Asked, ...pieces: readonly string[]): void {
  void send(asked, ...pieces).then(() => asked.response.end());
}
