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
import type { CatalogChange, Watching } from '../../catalog/watch.ts';
import { createServer } from '../server.ts';
import { logError, type Shared } from '../shared.ts';
import { failure, HttpSessions } from './sessions.ts';

export interface HttpOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly token: string;
  readonly maxMessageBytes: number;
  /** Follows the reason when a message is too long. */
  readonly advice?: string;
}

/** Node sets both for requests to a server. */
type ServerRequest = IncomingMessage & { readonly method: string; readonly url: string };

/** Reachable only from this machine. */
const HOST = '127.0.0.1';
const PATH = '/mcp';
/** Node's default of five seconds may close a connection just when a client reuses it, which loses the request. */
const KEEP_ALIVE_MS = 10 * 60 * 1000;

/** Serves clients that know the token, until it is closed. */
export async function serveOverHttp(shared: Shared, options: HttpOptions) {
  const { answer, endAll } = createAnswer(shared, options.maxMessageBytes);
  const http = createHttpServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  http.listen(options.port, HOST);
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const guard: GuardOptions = { ...options, port, path: PATH };
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const refused = refuseRequest(request, guard);
    // A client that is still sending would not see the response, and this one has the token.
    if (refused?.status === TOO_LARGE) request.resume().once('end', () => writeRefusal(response, refused));
    else if (refused) writeRefusal(response, refused);
    else void answer(request as ServerRequest, response);
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
    bus: folderEvents(shared.watching),
    maxRequestBodySize: maxMessageBytes,
    onerror: ({ message }) => shared.log(message),
  });
  const fetch = async (request: Request): Promise<Response> => {
    const body: unknown = request.method === 'POST' ? await request.json().catch(() => INVALID) : undefined;
    if (body === INVALID) return failure(400, 'The body is not valid JSON.', -32700);
    if (await isLegacyRequest(request, body)) return sessions.answer(request, body);
    if ((body as { method?: unknown } | undefined)?.method !== 'subscriptions/listen')
      return modern.fetch(request, { parsedBody: body });
    // Watches until the stream has joined, so that no change is missed in between.
    const held = shared.watching.join(() => {});
    await held.ready;
    return modern.fetch(request, { parsedBody: body }).finally(() => held.dispose());
  };
  const onerror = (error: unknown) => logError(shared, error);
  return {
    answer: toNodeHandler({ fetch }, { maxRequestBodySize: maxMessageBytes, onerror }),
    endAll: async () => {
      await modern.close();
      sessions.dispose();
    },
  };
}

const INVALID = Symbol('invalid');

/** Closes the connection without reading the body. */
function writeRefusal(response: ServerResponse, { status, message, headers }: HttpRefusal): void {
  const text = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(text);
}

/** The events of modern streams. Watches the folders while there is a stream. */
function folderEvents(watching: Watching): ServerEventBus {
  return {
    // All events come from the folders.
    publish: () => {},
    subscribe: (listener) => {
      const joined = watching.join((change) => {
        for (const event of eventsOf(change)) listener(event);
      });
      return () => joined.dispose();
    },
  };
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
  readonly maxMessageBytes: number;
  readonly advice?: string;
}

export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

const TOO_LARGE = 413;
const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Decides by the head of a request alone. Host and Origin reject web pages, including those that use DNS rebinding;
 * the token rejects other programs on this machine.
 */
export function refuseRequest(
  { method = '', url = '', headers }: RequestHead,
  { port, token, path, maxMessageBytes, advice = '' }: GuardOptions,
): HttpRefusal | undefined {
  if (!isOurHost(headers.host, port)) return refusal(403, 'This Host header is not allowed.');
  if (!isLoopbackOrigin(headers.origin)) return refusal(403, 'This Origin is not allowed.');
  if (!hasToken(headers.authorization, token))
    return refusal(401, 'Send the token of this server: Authorization: Bearer TOKEN.', {
      'www-authenticate': 'Bearer',
    });
  if (url.split('?', 1)[0] !== path) return refusal(404, `Only ${path} is served here.`);
  if (!METHODS.has(method))
    return refusal(405, 'This method is not allowed.', { allow: [...METHODS].join(', ') });
  if (Number(headers['content-length'] ?? 0) > maxMessageBytes)
    return refusal(TOO_LARGE, `The message is longer than ${maxMessageBytes} bytes. ${advice}`.trimEnd());
  return undefined;
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): HttpRefusal {
  return { status, message, headers };
}

function isOurHost(host: string | undefined, port: number): boolean {
  const [, name, written] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(host?.toLowerCase() ?? '') ?? [];
  return name !== undefined && LOOPBACK_NAMES.has(name) && written === String(port);
}

/** Only browsers send an Origin. */
function isLoopbackOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return (protocol === 'http:' || protocol === 'https:') && LOOPBACK_NAMES.has(hostname);
}

function hasToken(authorization: string | undefined, token: string): boolean {
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  // Digests have equal lengths, so the comparison leaks no timing information.
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
