import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deferred, unlessAborted } from '../../base/async.ts';
import type { Browser } from './authorization.ts';

type Open = (url: URL, server: string) => void | Promise<void>;

const HOST = '127.0.0.1';
const PATH = '/callback';

/** For the command line: the callback goes to a local port that is open only during a sign-in. */
export class LoopbackBrowser implements Browser {
  readonly #open: Open;
  /** Fixed for the session, because the client is registered with it. */
  #port: number | undefined;

  /** `open` opens the URL, or tells the user to open it. */
  constructor({ open }: { readonly open: Open }) {
    this.#open = open;
  }

  async redirectUrl(): Promise<string> {
    if (this.#port === undefined) {
      // Only finds a free port; it is opened by `visit`.
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
    const { promise, resolve } = deferred<URL>();
    const listener = createServer((request, response) => {
      const callback = readCallback(request, redirectUrl, state);
      writePage(response, callback !== undefined, () => callback && resolve(callback));
    });
    try {
      await this.#listenAgain(listener);
      await this.#open(url, server);
      return await unlessAborted(promise, signal);
    } finally {
      await close(listener);
    }
  }

  async #listenAgain(listener: Server): Promise<void> {
    try {
      await listen(listener, this.#port ?? 0);
    } catch (error) {
      this.#port = undefined;
      throw new Error('The port for the sign-in callback is in use. Try again.', { cause: error });
    }
  }
}

/** Any web page can send requests to this port, so only a callback with our state is accepted. */
function readCallback(request: IncomingMessage, redirectUrl: string, state: string | null): URL | undefined {
  const expected = new URL(redirectUrl);
  if (request.method !== 'GET' || request.headers.host !== expected.host) return undefined;
  if (!URL.canParse(request.url ?? '', redirectUrl)) return undefined;
  const callback = new URL(request.url ?? '', redirectUrl);
  const isOurs =
    callback.origin === expected.origin &&
    callback.pathname === PATH &&
    state !== null &&
    callback.searchParams.get('state') === state;
  return isOurs ? callback : undefined;
}

/** `onSent` is called after the page was sent, so that closing the port does not interrupt it. */
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
    ? 'Filechat received the response. You can close this page.'
    : 'This sign-in request has expired.';
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
