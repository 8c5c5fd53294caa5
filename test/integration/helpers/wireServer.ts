import type { ServerResponse } from 'node:http';
import type { Cleanup } from '../../kit/folder.ts';
import { startRawServer } from './modelServer.ts';

/** One request in the format of OpenAI's chat completions. */
export interface Asked {
  readonly number: number;
  readonly body: string;
  readonly response: ServerResponse;
  /** Resolves when the client has closed the connection. */
  readonly closed: Promise<void>;
}

export interface WireServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Resolves when this many requests have arrived. */
  came(count: number): Promise<void>;
}

/** A server that answers as a test says. */
export async function startWireServer(cleanup: Cleanup, answer: (asked: Asked) => void): Promise<WireServer> {
  const asked: Asked[] = [];
  const waiting: (() => void)[] = [];
  const url = await startRawServer(cleanup, ({ body, response, closed }) => {
    const each = { number: asked.length + 1, body, response, closed };
    asked.push(each);
    for (const look of waiting) look();
    answer(each);
  });
  const came = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => asked.length >= count && resolve();
      waiting.push(look);
      look();
    });
  return { url: `${url}/v1`, asked, came };
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

/** Begins a stream and writes these pieces. Resolves when they are flushed. */
export function send({ response }: Asked, ...pieces: readonly string[]): Promise<void> {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  return new Promise((resolve) => response.write(pieces.join(''), () => resolve()));
}

export function sendAll(asked: Asked, ...pieces: readonly string[]): void {
  void send(asked, ...pieces).then(() => asked.response.end());
}
