import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Cleanup } from '../../kit/folder.ts';
import { serveHttp } from '../../kit/http.ts';

/** Answers requests, over the network or not. */
export interface Site {
  handle(request: Request): Promise<Response>;
}

interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scope: string;
  readonly resource: string;
}

export interface TokenRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | null;
}

/** A correct authorization server; tests can make it break rules. */
export class AuthServer implements Site {
  readonly issuer: string;
  /** Added to the metadata, or replaces it. */
  metadata: Record<string, unknown> = {};
  /** Added to the answer that the browser brings back, or replaces it. */
  answer: Record<string, string | undefined> = {};
  refusesRefresh: string | undefined;
  /** Whether clients get a secret when they register. */
  givesSecrets = false;
  readonly registrations: Record<string, unknown>[] = [];
  readonly authorizations: URL[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  /** The valid access tokens, each with its scope. */
  readonly tokens = new Map<string, string>();
  readonly #codes = new Map<string, Grant>();
  readonly #refreshTokens = new Map<string, string>();
  #count = 0;

  constructor(issuer: string) {
    this.issuer = issuer;
  }

  async handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    switch (`${request.method} ${pathname}`) {
      case 'GET /.well-known/oauth-authorization-server':
        return Response.json({ ...this.#standardMetadata(), ...this.metadata });
      case 'POST /register':
        return this.#register((await request.json()) as Record<string, unknown>);
      case 'GET /authorize':
        return this.#authorize(new URL(request.url));
      case 'POST /token':
        return this.#giveToken({
          form: new URLSearchParams(await request.text()),
          authorization: request.headers.get('authorization'),
        });
      default:
        return new Response('', { status: 404 });
    }
  }

  /** Revokes all tokens issued so far. */
  revokeTokens(): void {
    this.tokens.clear();
  }

  #standardMetadata(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      registration_endpoint: `${this.issuer}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #register(metadata: Record<string, unknown>): Response {
    this.registrations.push(metadata);
    const secret = this.givesSecrets ? { client_secret: 'secret', client_secret_expires_at: 0 } : {};
    return Response.json({ ...metadata, ...secret, client_id: this.#next('client') }, { status: 201 });
  }

  #authorize(url: URL): Response {
    this.authorizations.push(url);
    const asked = (name: string) => url.searchParams.get(name) ?? '';
    const code = this.#next('code');
    this.#codes.set(code, {
      clientId: asked('client_id'),
      redirectUri: asked('redirect_uri'),
      challenge: asked('code_challenge'),
      scope: asked('scope'),
      resource: asked('resource'),
    });
    const back = new URL(asked('redirect_uri'));
    const answer = { code, state: asked('state'), iss: this.issuer, ...this.answer };
    for (const [name, value] of Object.entries(answer)) {
      if (value !== undefined) back.searchParams.set(name, value);
    }
    return new Response('', { status: 302, headers: { location: back.href } });
  }

  #giveToken(request: TokenRequest): Response {
    this.tokenRequests.push(request);
    const { form } = request;
    const scope =
      form.get('grant_type') === 'refresh_token' ? this.#scopeOfRefresh(form) : this.#scopeOfCode(form);
    if (scope === undefined) {
      return Response.json({ error: this.refusesRefresh ?? 'invalid_grant' }, { status: 400 });
    }
    const [token, refresh] = [this.#next('token'), this.#next('refresh')];
    this.tokens.set(token, scope);
    this.#refreshTokens.set(refresh, scope);
    return Response.json({ access_token: token, token_type: 'Bearer', refresh_token: refresh, scope });
  }

  #scopeOfRefresh(form: URLSearchParams): string | undefined {
    const token = form.get('refresh_token') ?? '';
    const scope = this.#refreshTokens.get(token);
    this.#refreshTokens.delete(token);
    return this.refusesRefresh === undefined ? scope : undefined;
  }

  #scopeOfCode(form: URLSearchParams): string | undefined {
    const code = form.get('code') ?? '';
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      grant?.challenge === challenge &&
      grant.redirectUri === form.get('redirect_uri') &&
      grant.resource === (form.get('resource') ?? '');
    return isRight ? grant.scope : undefined;
  }

  #next(kind: string): string {
    this.#count += 1;
    return `${kind}-${this.#count}`;
  }
}

type JsonRpc = { readonly id?: number; readonly method: string; readonly params?: Record<string, unknown> };

/** An MCP server that requires a token of its authorization server. */
export class ProtectedServer implements Site {
  readonly url: string;
  auth: AuthServer;
  /** The scope that a tool call requires. */
  callScope: string | undefined;
  /** The scope in the challenge of a 401. */
  scope: string | undefined;
  /** Added to the metadata, or replaces it. */
  metadata: Record<string, unknown> = {};
  metadataUrl: string | undefined;
  /** The received tokens, one for each request. */
  readonly seen: (string | undefined)[] = [];

  constructor(url: string, auth: AuthServer) {
    this.url = url;
    this.auth = auth;
  }

  async handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      return Response.json({
        resource: this.url,
        authorization_servers: [this.auth.issuer],
        ...this.metadata,
      });
    }
    if (pathname !== '/mcp') return new Response('', { status: 404 });
    if (request.method !== 'POST') return new Response('', { status: 405 });
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '');
    this.seen.push(token);
    const granted = this.auth.tokens.get(token ?? '');
    if (granted === undefined) return this.#challenge(401, this.scope);
    const message = (await request.json()) as JsonRpc;
    const needs = message.method === 'tools/call' ? this.callScope : undefined;
    if (needs !== undefined && !needs.split(' ').every((scope) => granted.split(' ').includes(scope))) {
      return this.#challenge(403, needs, 'insufficient_scope');
    }
    return answerRequest(message);
  }

  #challenge(status: number, scope: string | undefined, error?: string): Response {
    const parts = [
      `resource_metadata="${this.metadataUrl ?? new URL('/.well-known/oauth-protected-resource/mcp', this.url).href}"`,
      ...(scope === undefined ? [] : [`scope="${scope}"`]),
      ...(error === undefined ? [] : [`error="${error}"`]),
    ];
    return new Response('', { status, headers: { 'www-authenticate': `Bearer ${parts.join(', ')}` } });
  }
}

function answerRequest({ id, method, params }: JsonRpc): Response {
  if (id === undefined) return new Response(null, { status: 202 });
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: params?.['protocolVersion'],
      capabilities: { tools: {} },
      serverInfo: { name: 'protected', version: '1' },
    },
    'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'you' }] },
  };
  const result = results[method];
  return Response.json(
    result === undefined
      ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
      : { jsonrpc: '2.0', id, result },
  );
}

/** Serves a site on a free port. `create` gets its origin. */
export async function startSite<T extends Site>(cleanup: Cleanup, create: (origin: string) => T): Promise<T> {
  const site = Promise.withResolvers<T>();
  const origin = await serveHttp(cleanup, async (request, response) => {
    const answer = await (await site.promise).handle(await readRequest(request));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  site.resolve(create(origin));
  return site.promise;
}

async function readRequest(request: IncomingMessage): Promise<Request> {
  const { method = 'GET', url = '/', headers } = request;
  const body = await buffer(request);
  const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: given,
    ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
  });
}
