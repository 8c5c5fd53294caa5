import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What a server does with a request, whether it came over a wire or not. */
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

/** An authorization server that keeps to the rules, and breaks those that a test tells it to break. */
export class AuthServer implements Site {
  readonly issuer: string;
  /** Added to the metadata, or in place of what is there. */
  metadata: Record<string, unknown> = {};
  /** Added to the answer that the browser brings back, or in place of what is there. */
  answer: Record<string, string | undefined> = {};
  refusesRefresh: string | undefined;
  /** Whether clients get a secret when they register. */
  givesSecrets = false;
  readonly registrations: Record<string, unknown>[] = [];
  readonly authorizations: URL[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  /** The access tokens that are good, each with its scope. */
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

  /** Every token given so far is good no more. */
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

/** An MCP server that answers only who has a token of its authorization server. */
export class ProtectedServer implements Site {
  readonly url: string;
  auth: AuthServer;
  /** What a call of the tool needs beyond the token. */
  callScope: string | undefined;
  /** What the challenge of a 401 asks for. */
  scope: string | undefined;
  /** Added to the metadata, or in place of what is there. */
  metadata: Record<string, unknown> = {};
  metadataUrl: string | undefined;
  /** The tokens that came, one for each request. */
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

/** Puts a site on a port of this machine. `create` is told its origin; `onEnd` is given what ends it. */
export async function startSite<T extends Site>(
  create: (origin: string) => T,
  onEnd: (stop: () => void) => void,
): Promise<T> {
  let site: T | undefined;
  const server = createServer(async (request, response) => {
    const answer = await site?.handle(await readRequest(request));
    response.writeHead(answer?.status ?? 500, Object.fromEntries(answer?.headers ?? []));
    response.end(Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  site = create(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return site;
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
