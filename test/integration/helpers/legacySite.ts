import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Cleanup } from '../../kit/folder.ts';
import { serveHttp } from '../../kit/http.ts';

export interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

/** The exchange of one message; the request for the event stream has the method `GET`. */
export interface Exchange extends Message {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Returns a result, `taken` when it has answered, or nothing. */
type Answer = (exchange: Exchange) => unknown;

/** An MCP server of an older revision over HTTP. Without an answer of the test, it has no tools. */
export async function serveLegacy(cleanup: Cleanup, answer: Answer): Promise<string> {
  const url = await serveHttp(cleanup, async (request, response) => {
    const message = request.method === 'POST' ? ((await json(request)) as Message) : { method: 'GET' };
    const result = (await answer({ ...message, request, response })) ?? legacyResult(message);
    if (result === 'taken') return;
    const { id, method } = message;
    if (id === undefined) return void response.writeHead(method === 'GET' ? 405 : 202).end();
    const body = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  });
  return `${url}/mcp`;
}

export function legacyResult({ method, params }: Message): unknown {
  if (method === 'tools/list') return { tools: [] };
  if (method !== 'initialize') return undefined;
  const { protocolVersion } = params ?? {};
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
}

export function textResult(text: unknown) {
  return { content: [{ type: 'text', text: String(text) }] };
}
