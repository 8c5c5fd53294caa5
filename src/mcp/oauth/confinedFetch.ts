import { lookup as systemLookup } from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { FetchLike } from '@modelcontextprotocol/client';
import { hostOf, isLoopback } from '../../base/addresses.ts';
import { isForbiddenAddress, type Reach, reachOf } from '../config/networkReach.ts';

/** For URLs and responses that are not allowed. A TypeError, because the SDK rethrows those. */
export class RefusedAddressError extends TypeError {
  override readonly name = 'RefusedAddressError';
}

/** From near to far. */
const REACHES: readonly Reach[] = ['machine', 'network', 'internet'];

/**
 * A `fetch` for the metadata and tokens of one server. The server chooses the addresses, so one on this machine or in
 * its network is reached only if the server is there too. The address is checked when the connection is made, after
 * DNS. Redirects are not followed.
 */
export function createConfinedFetch(
  serverUrl: string,
  lookup: typeof systemLookup = systemLookup,
): FetchLike {
  const server = new URL(serverUrl);
  let known: Promise<Reach> | undefined;
  /** Where the server is, as its own connection shows: a claim of DNS alone could be changed at any time. */
  const reachOfServer = async (): Promise<Reach> => {
    if (isLoopback(server)) return 'machine';
    if (isIP(hostOf(server)) !== 0) return reachOf(hostOf(server));
    const request = new Request(server.origin, {
      method: 'HEAD',
      signal: AbortSignal.timeout(HEAD_TIMEOUT_MS),
    });
    return sendConfined(request, { nearest: 'machine', lookup }).then(
      ({ address }) => reachOf(address),
      () => 'internet',
    );
  };
  return async (url, init) => {
    const target = new URL(url);
    const create = () => new Request(target, init);
    if (hostOf(target) === hostOf(server))
      return (await sendConfined(create(), { nearest: 'machine', lookup })).response;
    try {
      return (await sendConfined(create(), { nearest: 'internet', lookup })).response;
    } catch (error) {
      if (!(error instanceof RefusedAddressError)) throw error;
      known ??= reachOfServer();
      return (await sendConfined(create(), { nearest: await known, lookup })).response;
    }
  };
}

const HEAD_TIMEOUT_MS = 10_000;

export interface Confined {
  /** Requests to nearer addresses are refused. */
  readonly nearest: Reach;
  readonly lookup: typeof systemLookup;
}

/** Sends one request, and follows no redirect. The address is checked when the connection is made, after DNS. */
export async function sendConfined(
  request: Request,
  { nearest, lookup }: Confined,
): Promise<{ readonly response: Response; readonly address: string }> {
  const url = new URL(request.url);
  const host = hostOf(url);
  const check = (address: string) => checkAddress(url, address, nearest);
  if (isIP(host) !== 0) check(host);
  const { Agent, request: begin } = url.protocol === 'https:' ? https : http;
  const body = Buffer.from(await request.arrayBuffer());
  return new Promise((resolve, reject) => {
    const outgoing = begin(url, {
      method: request.method,
      headers: { ...Object.fromEntries(request.headers), 'content-length': String(body.length) },
      // A connection that something else has made was not checked.
      agent: new Agent({ keepAlive: false }),
      lookup: checkedLookup(lookup, (name, address) => name === url.hostname && check(address)),
      signal: request.signal,
    });
    outgoing.once('error', reject);
    // Without a response: the server has changed to another protocol.
    outgoing.once('close', () => reject(new TypeError('The connection was closed.')));
    outgoing.once('response', (message) => {
      try {
        const address = message.socket.remoteAddress ?? '';
        resolve({ response: responseOf(message, request.method), address });
      } catch (error) {
        // A status such as 999 is not valid in a `Response`. Thrown here, the error would end the process.
        outgoing.destroy();
        reject(error);
      }
    });
    outgoing.end(body);
  });
}

function responseOf(message: IncomingMessage, method: string): Response {
  const { statusCode: status = 500, statusMessage: statusText = '' } = message;
  const headers = Object.entries(message.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const isEmpty = [204, 205, 304].includes(status) || method === 'HEAD';
  if (isEmpty) message.resume();
  const content = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
  return new Response(content, { status, statusText, headers });
}

function checkAddress(url: URL, address: string, nearest: Reach): void {
  const isNear = REACHES.indexOf(reachOf(address)) < REACHES.indexOf(nearest);
  if (!isNear && !isForbiddenAddress(address)) return;
  const where = reachOf(address) === 'machine' ? 'this machine' : 'the local network';
  throw new RefusedAddressError(
    `The sign-in address ${url.origin} is not allowed: it resolves to ${where}, but the server is not there.`,
  );
}

/** With a proxy, it is asked for the proxy too, which is not the server's choice. */
function checkedLookup(
  lookup: typeof systemLookup,
  check: (name: string, address: string) => void,
): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      try {
        for (const { address } of found) check(name, address);
      } catch (refused) {
        return callback(refused as Error, []);
      }
      const [first] = found;
      if (options.all === true || !first) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
