import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface GuardOptions {
  readonly port: number;
  readonly token: string;
  readonly path: string;
}

export interface AskedFor {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface HttpRefusal {
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
