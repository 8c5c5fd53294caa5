import { InsufficientScopeError } from '@modelcontextprotocol/client';
import {
  type AuthorizationOptions,
  type Browser,
  RemoteAuthorization,
} from '../../../../src/mcp/oauth/authorization.ts';
import type { CredentialStore } from '../../../../src/mcp/oauth/credentials.ts';
import { AuthServer, ProtectedServer, type Site } from '../../../integration/helpers/authServer.ts';

export class MemoryStore implements CredentialStore {
  readonly kept = new Map<string, string>();

  async get(key: string): Promise<string | undefined> {
    return this.kept.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    this.kept.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.kept.delete(key);
  }
}

/** A user who visits the URL and agrees, unless a test overrides it. */
export class ScriptedBrowser implements Browser {
  readonly visits: URL[] = [];
  readonly #fetch: typeof fetch;
  redirect = 'http://127.0.0.1:3000/callback';
  answer: (url: URL, signal: AbortSignal) => Promise<URL | 'declined'>;

  constructor(fetchFn: typeof fetch) {
    this.#fetch = fetchFn;
    this.answer = (url) => this.follow(url);
  }

  async redirectUrl(): Promise<string> {
    return this.redirect;
  }

  visit(url: URL, _server: string, signal: AbortSignal): Promise<URL | 'declined'> {
    this.visits.push(url);
    return this.answer(url, signal);
  }

  async follow(url: URL): Promise<URL> {
    const { headers } = await this.#fetch(url, { redirect: 'manual' });
    return new URL(headers.get('location') ?? '');
  }
}

/** An MCP server, its authorization server and another one, a user, and no network. */
export function createWorld(options: Partial<AuthorizationOptions> = {}) {
  const auth = new AuthServer('https://auth.example');
  const other = new AuthServer('https://other.example');
  const server = new ProtectedServer('https://mcp.example/mcp', auth);
  const sites = new Map<string, Site>([
    ['https://auth.example', auth],
    ['https://other.example', other],
    ['https://mcp.example', server],
  ]);
  /** Every address that was asked for. */
  const asked: string[] = [];
  const fetchFn: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    asked.push(request.url);
    const site = sites.get(new URL(request.url).origin);
    if (site === undefined) throw new TypeError('fetch failed');
    return site.handle(request);
  };
  const browser = new ScriptedBrowser(fetchFn);
  const store = new MemoryStore();
  const create = () =>
    new RemoteAuthorization({
      server: 'notes',
      serverUrl: server.url,
      store,
      browser,
      fetch: fetchFn,
      ...options,
    });
  const authorization = create();
  return { auth, other, server, asked, fetchFn, browser, store, authorization, create };
}

export type World = ReturnType<typeof createWorld>;

/** A world whose user has signed in. */
export async function signedIn(options: Partial<AuthorizationOptions> = {}): Promise<World> {
  const world = createWorld(options);
  await request(world);
  return world;
}

/** One request as the transports of the SDK send it: with the token, and again after a 401. */
export async function request(
  { server, fetchFn, authorization }: World,
  { provider }: RemoteAuthorization = authorization,
  method = 'tools/list',
): Promise<Response> {
  const send = async () =>
    server.handle(
      new Request(server.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${await provider.token()}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
      }),
    );
  const response = await send();
  if (response.status !== 401) return response;
  await provider.onUnauthorized?.({ response, serverUrl: new URL(server.url), fetchFn });
  return send();
}

export function needsScope(requiredScope: string): InsufficientScopeError {
  return new InsufficientScopeError({ requiredScope });
}
