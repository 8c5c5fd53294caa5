import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Disposable } from '../../ports/document.ts';

/** A legacy client. Most of them do not announce when they leave. */
interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: () => McpServer;
  /** The number of open streams. */
  open: number;
  usedAt: number;
  idle?: NodeJS.Timeout;
}

export interface SessionOptions {
  readonly connect: (transport: WebStandardStreamableHTTPServerTransport) => Promise<McpServer>;
  readonly idleMs?: number;
  readonly maxSessions?: number;
}

const IDLE_MS = 30 * 60 * 1000;
const MAX_SESSIONS = 64;

/** Sessions of legacy clients, through which a server can send notifications. Idle sessions expire. */
export class HttpSessions implements Disposable {
  readonly #options: SessionOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async answer(request: Request, parsedBody: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null && isInitializeRequest(parsedBody)) {
      const transport = await this.#open();
      return transport.handleRequest(request, { parsedBody });
    }
    if (id === null) return failure(400, 'Initialize first, and send the Mcp-Session-Id of the response.');
    const session = this.#sessions.get(id);
    if (session === undefined) return failure(404, 'This session has ended. Initialize again.');
    session.usedAt = performance.now();
    this.#wait(id, session);
    const response = await session.transport.handleRequest(request, { parsedBody });
    if (request.method === 'GET' && response.ok) this.#streams(id, session, request.signal);
    return response;
  }

  dispose(): void {
    for (const id of [...this.#sessions.keys()]) this.#end(id);
  }

  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    if (this.#sessions.size >= (this.#options.maxSessions ?? MAX_SESSIONS)) this.#endOldest();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const session: Session = { transport, server: () => server, open: 0, usedAt: performance.now() };
        this.#sessions.set(id, session);
        this.#wait(id, session);
      },
      onsessionclosed: (id) => this.#end(id),
    });
    const server = await this.#options.connect(transport);
    return transport;
  }

  /** The session does not expire while a stream is open. */
  #streams(id: string, session: Session, signal: AbortSignal): void {
    if (signal.aborted) return;
    session.open += 1;
    this.#wait(id, session);
    signal.addEventListener('abort', () => {
      session.open -= 1;
      this.#wait(id, session);
    });
  }

  #wait(id: string, session: Session): void {
    clearTimeout(session.idle);
    if (session.open > 0 || this.#sessions.get(id) !== session) return;
    session.idle = setTimeout(() => this.#end(id), this.#options.idleMs ?? IDLE_MS).unref();
  }

  #end(id: string): void {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    clearTimeout(session?.idle);
    void session?.server().close();
  }

  #endOldest(): void {
    const [oldest] = [...this.#sessions].sort(([, a], [, b]) => a.open - b.open || a.usedAt - b.usedAt);
    if (oldest) this.#end(oldest[0]);
  }
}

export function failure(status: number, message: string, code = -32000): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}
