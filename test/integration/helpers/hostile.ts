import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { RemoteServer, ServerConfig, StdioServer } from '../../../src/mcp/config/types.ts';
import { type ClientOptions, McpClient } from '../../../src/mcpClient.ts';
import type { ToolResult } from '../../../src/ports/results.ts';
import type { ToolCallOptions } from '../../../src/ports/tools.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

const SERVER = fileURLToPath(new URL('../fixtures/hostile-server.mjs', import.meta.url));
/** Long enough never to matter in a test that passes. */
const TIMEOUT_MS = 60_000;

export type Way = 'stdio' | 'http';
export const WAYS: readonly Way[] = ['stdio', 'http'];

export function hostileProcess(
  mode: string,
  { record = '', env = {} }: { readonly record?: string; readonly env?: StdioServer['env'] } = {},
): StdioServer {
  return { kind: 'stdio', command: process.execPath, args: [SERVER, 'stdio', mode, record], env };
}

/** The server over HTTP, as a process of its own that the test ends. */
export async function startHostileSite(
  t: TestContext,
  mode: string,
  { record = '', env = {} }: { readonly record?: string; readonly env?: StdioServer['env'] } = {},
): Promise<RemoteServer> {
  const child = spawn(process.execPath, [SERVER, 'http', mode, record], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  t.after(() => child.kill('SIGKILL'));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { kind: 'http', url, headers: {} };
}

export interface Hostility {
  readonly client: McpClient;
  readonly logged: readonly string[];
  /** How long a server may be silent; counts from the next call on. */
  timeoutMs: number;
  /** The clock of the waits between two starts. */
  nowMs: number;
  call(server: string, tool: string, options?: Omit<ToolCallOptions, 'assets'>): Promise<ToolResult>;
  /** The text of the only part. */
  text(server: string, tool: string): Promise<string>;
  /** What a server was started for and sent, in its own words. */
  record(): readonly RecordedMessage[];
}

export interface RecordedMessage {
  readonly started?: number;
  readonly method?: string;
  readonly tool?: string;
  /** How many bytes of noise were taken from it so far. */
  readonly flooded?: number;
}

export interface HostilityOptions extends Partial<ClientOptions> {
  readonly env?: StdioServer['env'];
}

/** Our whole client with a server that does its worst, and a second one that is well. */
export async function face(
  t: TestContext,
  way: Way,
  mode: string,
  { env = {}, ...options }: HostilityOptions = {},
): Promise<Hostility> {
  const folder = createTemporaryFolder();
  t.after(() => folder[Symbol.dispose]());
  const record = join(folder.path, 'record.jsonl');
  const bad =
    way === 'stdio'
      ? hostileProcess(mode, { record, env })
      : await startHostileSite(t, mode, { record, env });
  const servers = new Map<string, ServerConfig>([
    ['bad', bad],
    ['good', hostileProcess('plain')],
  ]);
  const logged: string[] = [];
  const log = (message: string) => void logged.push(message);
  const face = { timeoutMs: TIMEOUT_MS, nowMs: 0 };
  const client = new McpClient({
    servers: async () => servers,
    log: { info: log, warn: log, error: log },
    timeoutMs: () => face.timeoutMs,
    clientInfo: { name: 'test', version: '1' },
    now: () => face.nowMs,
    ...options,
  });
  t.after(() => client.dispose());
  const call: Hostility['call'] = async (server, tool, more = {}) => {
    const assets = new FolderAssets({ folder: await mkdtemp(join(folder.path, 'chat-')) }).beginResult();
    return client.callTool({ id: 'c1', server, tool, arguments: {} }, { ...more, assets });
  };
  const text: Hostility['text'] = async (server, tool) => textOf(await call(server, tool));
  return Object.assign(face, { client, logged, call, text, record: () => readRecord(record) });
}

export interface Opened {
  readonly connections: McpClient;
  readonly logged: readonly string[];
  /** How long a server may be silent; counts from the next start or call on. */
  timeoutMs: number;
  text(server: string, tool: string): Promise<string>;
}

/** A client of any servers, closed when the test ends. */
export function openAll(t: TestContext, servers: ReadonlyMap<string, ServerConfig>): Opened {
  const logged: string[] = [];
  const log = (message: string) => void logged.push(message);
  const settings = { timeoutMs: TIMEOUT_MS };
  const connections = new McpClient({
    servers: async () => servers,
    log: { info: log, warn: log, error: log },
    timeoutMs: () => settings.timeoutMs,
    clientInfo: { name: 'test', version: '1' },
  });
  t.after(() => connections.dispose());
  const text = async (server: string, tool: string) => {
    const result = await connections.callToolRaw({ id: 'c1', server, tool, arguments: {} });
    return (result as { content: { text: string }[] }).content[0]?.text ?? '';
  };
  return Object.assign(settings, { connections, logged, text });
}

export function textOf({ parts }: ToolResult): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : `<${part.kind}>`)).join('\n');
}

export function readRecord(file: string): readonly RecordedMessage[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as RecordedMessage);
}

/** An address that nobody may ask; `hits` counts who did. */
export async function startCanary(t: TestContext): Promise<{ readonly url: string; hits: number }> {
  const canary = { url: '', hits: 0 };
  const server = createServer((_request, response) => {
    canary.hits += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  canary.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return canary;
}
