import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { RemoteServer, ServerConfig, StdioServer } from '../../../src/mcp/config/types.ts';
import { type CallOptions, type ClientOptions, McpClient } from '../../../src/mcpClient.ts';
import type { ToolResult } from '../../../src/ports/results.ts';
import type { ToolCallOptions } from '../../../src/ports/tools.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { type Cleanup, temporaryFolder } from '../../kit/folder.ts';

/** Long enough never to matter in a test that passes. */
export const TIMEOUT_MS = 60_000;

export type Arguments = Readonly<Record<string, unknown>>;

/** The outcome of a call in a chat. */
export interface Called {
  readonly result: ToolResult;
  readonly markdown: string;
  /** The chat's folder, which is new for every call. */
  readonly folder: string;
  /** The bytes of an asset, by its place among the assets. */
  asset(at: number): Promise<Buffer>;
}

/** A client of some servers. Tools are named `server.tool`. */
export interface Serving {
  readonly client: McpClient;
  readonly logged: string[];
  /** May be changed while the test runs. */
  readonly servers: Map<string, ServerConfig>;
  /** Of requests that begin from now on. */
  timeoutMs: number;
  /** Resolves to the raw result. */
  call(name: string, args?: Arguments, options?: CallOptions): Promise<unknown>;
  /** The text of the first block. */
  text(name: string, args?: Arguments): Promise<string>;
  /** Calls a tool as a chat does. */
  callInChat(name: string, args?: Arguments, options?: Omit<ToolCallOptions, 'assets'>): Promise<Called>;
}

export function serve(
  cleanup: Cleanup,
  config: Readonly<Record<string, ServerConfig>>,
  options: Partial<ClientOptions> = {},
): Serving {
  const servers = new Map(Object.entries(config));
  const logged: string[] = [];
  const log = (line: string) => void logged.push(line);
  const client = new McpClient({
    servers: async () => servers,
    log: { info: log, warn: log, error: log },
    timeoutMs: () => serving.timeoutMs,
    clientInfo: { name: 'test', version: '1' },
    ...options,
  });
  cleanup.after(() => client.dispose());
  const folder = temporaryFolder(cleanup);
  const serving: Serving = {
    client,
    logged,
    servers,
    timeoutMs: TIMEOUT_MS,
    call: (name, args = {}, more = {}) => client.callToolRaw(toolCall(name, args), more),
    text: async (name, args) => firstText(await serving.call(name, args)),
    callInChat: async (name, args = {}, more = {}) => {
      const chatFolder = await mkdtemp(join(folder, 'chat-'));
      const assets = new FolderAssets({ folder: chatFolder }).beginResult();
      const result = await client.callTool(toolCall(name, args), { ...more, assets });
      const paths = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
      const asset = (at: number) => readFile(join(chatFolder, paths[at] ?? ''));
      return { result, markdown: renderToolResult(result), folder: chatFolder, asset };
    },
  };
  return serving;
}

function toolCall(name: string, args: Arguments) {
  const [server = '', tool = ''] = name.split('.');
  return { id: 'c1', server, tool, arguments: args };
}

export function firstText(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]?.text ?? '';
}

export function http(url: string, headers: Readonly<Record<string, string>> = {}): RemoteServer {
  return { kind: 'http', url, headers };
}

export function scripted(mode = 'plain', env: Readonly<Record<string, string>> = {}): StdioServer {
  return { kind: 'stdio', command: process.execPath, args: [fixture('scripted-server.mjs'), mode], env };
}

/** What the processes of the test run share to start quickly. A server inherits it only if it is named. */
export function compileCache(): Readonly<Record<string, string>> {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** A server from npm, by its own bin entry. */
export function fromNpm(name: string, ...args: string[]): StdioServer {
  const require = createRequire(import.meta.url);
  const path = join(process.cwd(), 'node_modules', name, 'package.json');
  const { bin } = require(path) as { bin: Record<string, string> };
  const script = join(dirname(path), Object.values(bin)[0] ?? '');
  return { kind: 'stdio', command: process.execPath, args: [script, ...args], env: compileCache() };
}

/** Starts the HTTP fixture; resolves to its address. */
export async function startHttp(cleanup: Cleanup): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [fixture('http-server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanup.after(() => stopProcess(child));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url, process: child };
}

/** Starts a process and resolves when its stderr says that it is ready. */
export async function startAndAwait(
  cleanup: Cleanup,
  config: StdioServer,
  ready: RegExp,
): Promise<ChildProcess> {
  const child = spawn(config.command, config.args, {
    env: { ...process.env, ...config.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  cleanup.after(() => stopProcess(child));
  for await (const line of createInterface({ input: child.stderr })) if (ready.test(line)) return child;
  throw new Error('The server exited before it was ready.');
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}
