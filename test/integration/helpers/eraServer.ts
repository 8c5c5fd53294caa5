import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ServerConfig, StdioServer } from '../../../src/mcp/config/types.ts';
import { type ClientOptions, McpClient } from '../../../src/mcpClient.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

const ERA_SERVER = fileURLToPath(new URL('../fixtures/era-server.mjs', import.meta.url));
/** Long enough never to matter in a test that passes. */
const TIMEOUT_MS = 60_000;

/** A server of one revision or another, and what it has heard since it was last looked. */
export function eraServer(t: TestContext, mode: string): { config: StdioServer; heard(): readonly string[] } {
  const folder = createTemporaryFolder();
  t.after(() => folder[Symbol.dispose]());
  const record = join(folder.path, 'heard.txt');
  let seen = 0;
  return {
    config: { kind: 'stdio', command: process.execPath, args: [ERA_SERVER, mode, record], env: {} },
    heard: () => {
      const lines = existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : [];
      const from = seen;
      seen = lines.length;
      return lines.slice(from);
    },
  };
}

/** McpClient to this server alone, closed when the test ends. */
export function open(t: TestContext, config: ServerConfig, options: Partial<ClientOptions> = {}): McpClient {
  const ignore = () => {};
  const connections = new McpClient({
    servers: async () => new Map([['s', config]]),
    log: { info: ignore, warn: ignore, error: ignore },
    timeoutMs: () => TIMEOUT_MS,
    clientInfo: { name: 'test', version: '1' },
    ...options,
  });
  t.after(() => connections.dispose());
  return connections;
}
