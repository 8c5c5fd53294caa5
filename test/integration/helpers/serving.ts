import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ServerConfig, StdioServer } from '../../../src/mcp/config/types.ts';
import { type CallOptions, McpClient } from '../../../src/mcpClient.ts';

/** Long enough never to matter in a test that passes. */
export const TIMEOUT_MS = 60_000;

export interface Serving {
  readonly connections: McpClient;
  readonly logged: string[];
  /** May be changed while the test runs. */
  readonly servers: Map<string, ServerConfig>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
  /** The text of the first block that the tool returns. */
  text(name: string, args?: Record<string, unknown>): Promise<string>;
}

/** McpClient that are closed when the test ends. Tools are named `server.tool`. */
export function serve(
  t: TestContext,
  config: Readonly<Record<string, ServerConfig>>,
  timeoutMs = TIMEOUT_MS,
): Serving {
  const servers = new Map(Object.entries(config));
  const logged: string[] = [];
  const write = (message: string) => logged.push(message);
  const connections = new McpClient({
    servers: async () => servers,
    log: { info: write, warn: write, error: write },
    timeoutMs: () => timeoutMs,
    clientInfo: { name: 'test', version: '1' },
  });
  t.after(() => connections.dispose());
  const call: Serving['call'] = (name, args = {}, options = {}) => {
    const [server = '', tool = ''] = name.split('.');
    return connections.callToolRaw({ id: 'c1', server, tool, arguments: args }, options);
  };
  const text: Serving['text'] = async (name, args) => firstText(await call(name, args));
  return { connections, logged, servers, call, text };
}

export function firstText(result: unknown): string {
  return (result as { content: { text: string }[] }).content[0]?.text ?? '';
}

export function scripted(mode = 'plain', env: Readonly<Record<string, string>> = {}): StdioServer {
  return { kind: 'stdio', command: process.execPath, args: [fixture('scripted-server.mjs'), mode], env };
}

/** A server from npm, by its own bin entry. */
export function fromNpm(name: string, ...args: string[]): StdioServer {
  const require = createRequire(import.meta.url);
  const path = join(process.cwd(), 'node_modules', name, 'package.json');
  const { bin } = require(path) as { bin: Record<string, string> };
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [join(dirname(path), Object.values(bin)[0] ?? ''), ...args],
    env: {},
  };
}

/** Starts the HTTP fixture; resolves to its address. */
export async function startHttp(t: TestContext): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, [fixture('http-server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => stop(child));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url, process: child };
}

/** Starts a process and resolves when its stderr says that it is ready. */
export async function startAndAwait(
  t: TestContext,
  config: StdioServer,
  ready: RegExp,
): Promise<ChildProcess> {
  const child = spawn(config.command, config.args, {
    env: { ...process.env, ...config.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => stop(child));
  for await (const line of createInterface({ input: child.stderr })) {
    if (ready.test(line)) {
      return child;
    }
  }
  throw new Error('The server ended before it was ready.');
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

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}
