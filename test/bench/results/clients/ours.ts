import { join } from 'node:path';
import { FolderAssets } from '../../../../src/assets/store.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';
import { DEFAULT_LIMITS, McpClient } from '../../../../src/mcpClient.ts';
import type { ResultPart } from '../../../../src/ports/results.ts';
import {
  type BenchClient,
  type Item,
  type Load,
  loadArguments,
  MAX_MESSAGE_BYTES,
  NO_TIMEOUT_MS,
  type Target,
} from '../types.ts';

/** Filechat as in its command line. */
export async function connect(target: Target): Promise<BenchClient> {
  const servers = new Map([['bench', serverConfig(target)]]);
  const limits = { ...DEFAULT_LIMITS, maxAssetBytes: MAX_MESSAGE_BYTES };
  const client = new McpClient({
    servers: async () => servers,
    log: { info: () => {}, warn: console.error, error: console.error },
    timeoutMs: () => NO_TIMEOUT_MS,
    clientInfo: { name: 'bench', version: '1.0.0' },
    limits: () => limits,
  });
  return {
    call: (load, folder) => call(client, load, folder),
    close: () => client.dispose(),
  };
}

function serverConfig(target: Target): ServerConfig {
  return target.kind === 'stdio' ? { ...target, env: {} } : { ...target, headers: {} };
}

async function call(client: McpClient, load: Load, folder: string): Promise<readonly Item[]> {
  const { name, arguments: args } = loadArguments(load);
  const assets = new FolderAssets({ folder }).beginResult();
  const { parts } = await client.callTool(
    { id: 'bench', server: 'bench', tool: name, arguments: args },
    { assets },
  );
  return parts.map((part) => toItem(part, folder));
}

function toItem(part: ResultPart, folder: string): Item {
  if (part.kind === 'text') return { kind: 'text', text: part.text };
  if (part.kind === 'asset') return { kind: 'file', path: join(folder, part.asset.path) };
  throw new Error(part.kind === 'problem' ? part.message : `Unexpected part: ${part.kind}.`);
}
