import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type ServerEvent,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { CatalogChange } from '../../catalog/watch.ts';
import type { Watching } from '../changes.ts';
import { logUnforeseen } from '../refusal.ts';
import { createServer } from '../server.ts';
import type { Shared } from '../shared.ts';
import { HttpSessions } from './sessions.ts';

export interface HttpOptions {
  /** 0 is any that is free. */
  readonly port: number;
  readonly token: string;
  readonly maxMessageBytes: number;
}

export interface HttpServing {
  readonly url: string;
  close(): Promise<void>;
}

/** Node leaves neither out of what is asked of a server. */
type Asking = IncomingMessage & { readonly method: string; readonly url: string };

/** Only programs on this machine reach it. */
const HOST = '127.0.0.1';
const PATH = '/mcp';
/**
 * How long a connection may rest. Node would end it after five seconds, which is when a client may be about to ask
 * again, and whose question is then lost; clients themselves give up earlier than this.
 */
const REST_MS = 10 * 60 * 1000;

/** Serves all clients that know the token, until it is closed. */
export async function serveOverHttp(shared: Shared, options: HttpOptions): Promise<HttpServing> {
  const { answer, endAll } = createAnswer(shared, options.maxMessageBytes);
  const http = createHttpServer({ keepAliveTimeout: REST_MS });
  http.listen(options.port, HOST);
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const guard: GuardOptions = { port, token: options.token, path: PATH };
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const refused = refuseRequest(request, guard);
    if (refused) writeRefusal(response, refused);
    else void answer(request as Asking, response);
  });
  return {
    url: `http://${HOST}:${port}${PATH}`,
    close: async () => {
      const closed = once(http, 'close');
      http.close();
      await endAll();
      http.closeAllConnections();
      await closed;
    },
  };
}

function createAnswer(shared: Shared, maxMessageBytes: number) {
  const sessions = new HttpSessions({
    connect: async (transport) => {
      const { server } = createServer(shared, 'legacy');
      await server.connect(transport);
      return server;
    },
  });
  const modern = createMcpHandler(({ era }) => createServer(shared, era).server, {
    legacy: 'reject',
    bus: new FolderEvents(shared.watching),
    maxRequestBodySize: maxMessageBytes,
    onerror: ({ message }) => shared.log(message),
  });
  const answer = toNodeHandler(
    { fetch: (request) => route(request, { shared, sessions, modern: modern.fetch }) },
    { maxRequestBodySize: maxMessageBytes, onerror: (error) => logUnforeseen(shared, error) },
  );
  const endAll = async () => {
    await modern.close();
    sessions.dispose();
  };
  return { answer, endAll };
}

interface Routes {
  readonly shared: Shared;
  readonly sessions: HttpSessions;
  readonly modern: (request: Request, options: { parsedBody?: unknown }) => Promise<Response>;
}

async function route(request: Request, { shared, sessions, modern }: Routes): Promise<Response> {
  const body = await readBody(request);
  if (body === INVALID)
    return Response.json(
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'The body is no JSON.' } },
      { status: 400 },
    );
  if (await isLegacyRequest(request, body)) return sessions.answer(request, body);
  if ((body as { method?: unknown } | undefined)?.method !== 'subscriptions/listen')
    return modern(request, { parsedBody: body });
  // Held until the stream has joined, so that nothing is missed between the answer and the first change.
  const held = shared.watching.join(() => {});
  try {
    await held.ready;
    return await modern(request, { parsedBody: body });
  } finally {
    held.dispose();
  }
}

const INVALID = Symbol('invalid');

/** Parsed once, for who decides and for who answers. */
async function readBody(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined;
  try {
    return await request.json();
  } catch {
    return INVALID;
  }
}

/** The rest of what is sent is not read. */
function writeRefusal(response: ServerResponse, { status, message, headers }: HttpRefusal): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(text);
}

/** Where streams of 2026 get their news from. The folders are watched while there is such a stream. */
class FolderEvents implements ServerEventBus {
  readonly #watching: Watching;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  /** All events come from the folders, so nobody publishes one here. */
  publish(): void {}

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const joined = this.#watching.join((change) => {
      for (const event of eventsOf(change)) listener(event);
    });
    // It was waited for before.
    joined.ready.catch(() => undefined);
    return () => joined.dispose();
  }
}

function eventsOf({ list, updated }: CatalogChange): ServerEvent[] {
  return [
    ...(list ? [{ kind: 'resources_list_changed' } as const] : []),
    ...updated.map((uri) => ({ kind: 'resource_updated', uri }) as const),
  ];
}

interface GuardOptions {
  readonly port: number;
  readonly token: string;
  readonly path: string;
}

export interface AskedFor {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Why a request is not let in, judged by its head alone. Every page that a browser shows can send requests to this
 * machine, also under a name of its own that leads here: those have another Host or Origin. Every program on it can
 * too: those have no token.
 */
export function refuseRequest(
  { method = '', url = '', headers }: AskedFor,
  { port, token, path }: GuardOptions,
): HttpRefusal | undefined {
  if (!isOurHost(headers.host, port)) return refusal(403, 'This Host is not served here.');
  if (!isLoopbackOrigin(headers.origin)) return refusal(403, 'Pages of this Origin may not ask here.');
  if (!hasToken(headers.authorization, token))
    return refusal(401, 'Send the token of this server: Authorization: Bearer TOKEN.', {
      'www-authenticate': 'Bearer',
    });
  if (url.split('?', 1)[0] !== path) return refusal(404, `Only ${path} is served here.`);
  if (!METHODS.has(method))
    return refusal(405, 'This method is not served here.', { allow: [...METHODS].join(', ') });
  return undefined;
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): HttpRefusal {
  return { status, message, headers };
}

function isOurHost(host: string | undefined, port: number): boolean {
  const [, name, written] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(host?.toLowerCase() ?? '') ?? [];
  return name !== undefined && LOOPBACK_NAMES.has(name) && written === String(port);
}

/** Programs that are no browser send none. */
function isLoopbackOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return (protocol === 'http:' || protocol === 'https:') && LOOPBACK_NAMES.has(hostname);
}

function hasToken(authorization: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  // Of the same length whatever was sent, so that the time tells nothing.
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
