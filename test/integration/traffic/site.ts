import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { RemoteServer, StdioServer } from '../../../src/mcp/config/types.ts';
import { type Cleanup, temporaryFolder } from '../../kit/folder.ts';
import { type Exchange, serveLegacy, textResult } from '../helpers/legacySite.ts';
import { http } from '../helpers/serving.ts';

type Params = Readonly<Record<string, unknown>>;

/** Returns a result, `taken` when it has answered, or nothing for the usual answer. */
export type Handler = (params: Params, exchange: Exchange) => unknown;

export interface Heard {
  readonly method: string;
  readonly params: Params;
  readonly headers: IncomingHttpHeaders;
}

export interface SiteOptions {
  readonly tools: readonly object[];
  readonly capabilities?: object;
  readonly isModern?: boolean;
  readonly on?: Readonly<Record<string, Handler>>;
}

export interface Site {
  readonly config: RemoteServer;
  readonly heard: Heard[];
  /** The methods that it heard, without those of the connection itself. */
  methods(): readonly string[];
}

const CONNECTION =
  /^(?:GET|DELETE|server\/discover|initialize|notifications\/initialized|subscriptions\/listen)$/;
const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** An MCP server over HTTP in this process, of either era, whose messages the test can see. */
export async function serveSite(cleanup: Cleanup, options: SiteOptions): Promise<Site> {
  const { tools, capabilities = { tools: {} }, isModern = false, on = {} } = options;
  const heard: Heard[] = [];
  const usual: Readonly<Record<string, Handler>> = {
    'server/discover': () => isModern && { supportedVersions: ['2026-07-28'], capabilities },
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities,
      serverInfo: { name: 'site', version: '1' },
    }),
    'tools/list': () => ({ tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) }),
    'tools/call': ({ name }) => textResult(name),
  };
  const url = await serveLegacy(cleanup, async (exchange) => {
    const { method, request, params = {} } = exchange;
    const called = request.method === 'DELETE' ? 'DELETE' : method;
    heard.push({ method: called, params, headers: request.headers });
    const result = (await on[called]?.(params, exchange)) ?? (await usual[called]?.(params, exchange));
    if (!isModern || typeof result !== 'object' || result === null) return result || undefined;
    return { ...COMPLETE, ...result };
  });
  const methods = () => heard.map(({ method }) => method).filter((method) => !CONNECTION.test(method));
  return { config: http(url), heard, methods };
}

/** Opens the stream of the server's own messages. */
export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

export function sendEvent(response: ServerResponse, message: object): void {
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

/** A process that runs this script. It has `send`, `text` and `on`, which registers a handler of a method. */
export async function scriptServer(cleanup: Cleanup, script: string): Promise<StdioServer> {
  const path = join(temporaryFolder(cleanup), 'server.mjs');
  await writeFile(path, `${PRELUDE}\n${script}`);
  return { kind: 'stdio', command: process.execPath, args: [path], env: {} };
}

const PRELUDE = `
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const handlers = {};
const on = (method, handler) => { handlers[method] = handler; };
const tools = (...names) =>
  on('tools/list', () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }));
on('initialize', ({ protocolVersion }) => ({
  protocolVersion,
  capabilities: { tools: { listChanged: true }, logging: {} },
  serverInfo: { name: 'script', version: '1' },
}));
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = await handlers[method]?.(params ?? {});
  if (id === undefined) return;
  send(result ? { id, result } : { id, error: { code: -32601, message: 'Method not found' } });
});
`;
