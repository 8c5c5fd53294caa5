import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unlessAborted } from '../../base/async.ts';
import type { Browser } from './authorization.ts';

export interface LoopbackBrowserOptions {
  /** Brings the user to this address, or tells them to go there. */
  readonly open: (url: URL, server: string) => void | Promise<void>;
}

const HOST = '127.0.0.1';
const PATH = '/callback';

/** For the command line: the browser is sent back to a port of this machine, which is open only while someone waits. */
export class LoopbackBrowser implements Browser {
  readonly #options: LoopbackBrowserOptions;
  /** The same for the whole session, because the client is registered with it. */
  #port: number | undefined;

  constructor(options: LoopbackBrowserOptions) {
    this.#options = options;
  }

  async redirectUrl(): Promise<string> {
    if (this.#port === undefined) {
      // Only to learn a free port: nobody may ever come.
      const server = createServer();
      this.#port = await listen(server, 0);
      await close(server);
    }
    return `http://${HOST}:${this.#port}${PATH}`;
  }

  async visit(url: URL, server: string, signal: AbortSignal): Promise<URL> {
    signal.throwIfAborted();
    const redirectUrl = await this.redirectUrl();
    const state = url.searchParams.get('state');
    let onAnswer: (answer: URL) => void = () => {};
    const answered = new Promise<URL>((resolve) => {
      onAnswer = resolve;
    });
    const listener = createServer((request, response) => {
      const answer = readCallback(request, redirectUrl, state);
      writePage(response, answer !== undefined, () => answer && onAnswer(answer));
    });
    try {
      await this.#listenAgain(listener);
      await this.#options.open(url, server);
      return await unlessAborted(answered, signal);
    } finally {
      await close(listener);
    }
  }

  async #listenAgain(listener: Server): Promise<void> {
    try {
      await listen(listener, this.#port ?? 0);
    } catch (error) {
      this.#port = undefined;
      throw new Error('The port for the way back from the browser is taken. Try again.', { cause: error });
    }
  }
}

/** Other pages of the browser can send requests here too, so only an answer with our state counts. */
function readCallback(request: IncomingMessage, redirectUrl: string, state: string | null): URL | undefined {
  const expected = new URL(redirectUrl);
  if (request.method !== 'GET' || request.headers.host !== expected.host) return undefined;
  if (!URL.canParse(request.url ?? '', redirectUrl)) return undefined;
  const answer = new URL(request.url ?? '', redirectUrl);
  const isOurs =
    answer.origin === expected.origin &&
    answer.pathname === PATH &&
    state !== null &&
    answer.searchParams.get('state') === state;
  return isOurs ? answer : undefined;
}

/** `onSent` is called when the browser has the page, so that closing the port does not cut it off. */
function writePage(response: ServerResponse, isOurs: boolean, onSent: () => void): void {
  response.on('close', onSent);
  response.writeHead(isOurs ? 200 : 404, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  const text = isOurs
    ? 'Filechat has your answer. You can close this page.'
    : 'Nobody waits for this answer.';
  response.end(`<!doctype html><html lang="en"><title>Filechat</title><p>${text}</p></html>\n`);
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
