import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
  return toItems(parts, folder);
}

const REST_NAME = 'rest-of-result.md';

/** The chat has the first blocks of a long result. A file has the others, after a part that says so. */
async function toItems(parts: readonly ResultPart[], folder: string): Promise<readonly Item[]> {
  const at = parts.findIndex((part) => part.kind === 'asset' && part.asset.name === REST_NAME);
  const rest = parts[at];
  if (rest?.kind !== 'asset') return parts.map((part) => toItem(part, folder));
  const lead = parts.slice(0, at - 1).map((part) => toItem(part, folder));
  return [...lead, ...(await readRest(join(folder, rest.asset.path)))];
}

/** Blocks are divided by blank lines. Binary ones are links to the files beside it. */
async function readRest(path: string): Promise<readonly Item[]> {
  const blocks = (await readFile(path, 'utf8')).split('\n\n');
  return blocks.map((block) => {
    const [, name] = /^\[.*\]\(\.\/(.*)\)$/.exec(block) ?? [];
    return name === undefined
      ? { kind: 'text', text: block }
      : { kind: 'file', path: join(dirname(path), name) };
  });
}

function toItem(part: ResultPart, folder: string): Item {
  if (part.kind === 'text') return { kind: 'text', text: part.text };
  if (part.kind === 'asset') return { kind: 'file', path: join(folder, part.asset.path) };
  throw new Error(part.kind === 'problem' ? part.message : `Unexpected part: ${part.kind}.`);
}
