import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { ServerConfig, StdioServer } from '../../../src/mcp/config/types.ts';
import { type CallOptions, McpClient } from '../../../src/mcpClient.ts';
import type { Spills, ToolResult } from '../../../src/ports/results.ts';
import type { ToolCall, ToolCallOptions } from '../../../src/ports/tools.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

/** A block as the server sent it. */
export interface SentBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: { readonly uri: string; readonly text?: string; readonly blob?: string };
}

export interface SentResult {
  readonly isError?: boolean;
  readonly content: readonly SentBlock[];
  readonly structuredContent?: unknown;
}

/** One call: what the server sent, and what became of it. */
export interface Called {
  readonly sent: SentResult;
  readonly result: ToolResult;
  readonly markdown: string;
  /** The chat's folder, which is new for every call. */
  readonly folder: string;
}

export type Arguments = Readonly<Record<string, unknown>>;

export interface Session {
  readonly client: McpClient;
  readonly folder: string;
  /** Calls `SERVER.TOOL`. */
  call(name: string, args?: Arguments, options?: Omit<ToolCallOptions, 'assets'>): Promise<Called>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 60_000;
const CLIENT_INFO = { name: 'filechat-integration', version: '1' };

/** Our own client on real servers, none of which is started before its first use. */
export function openSession(servers: Readonly<Record<string, ServerConfig>>): Session {
  const client = new TappedClient(servers);
  const folder = createTemporaryFolder();
  return {
    client,
    folder: folder.path,
    call: async (name, args = {}, options = {}) => {
      const chatFolder = await mkdtemp(join(folder.path, 'chat-'));
      const [server = '', tool = ''] = name.split('.');
      const assets = new FolderAssets({ folder: chatFolder }).beginResult();
      const call = { id: 'c1', server, tool, arguments: args };
      const result = await client.callTool(call, { ...options, assets });
      const markdown = renderToolResult(result);
      return { sent: client.sentFor(call), result, markdown, folder: chatFolder };
    },
    close: async () => {
      await client.dispose();
      folder[Symbol.dispose]();
    },
  };
}

/** The real client, which also keeps the results that the servers sent. */
class TappedClient extends McpClient {
  readonly #sent = new Map<ToolCall, unknown>();

  constructor(servers: Readonly<Record<string, ServerConfig>>) {
    const all = new Map(Object.entries(servers));
    const ignore = () => {};
    super({
      servers: async () => all,
      log: { info: ignore, warn: ignore, error: ignore },
      timeoutMs: () => TIMEOUT_MS,
      clientInfo: CLIENT_INFO,
    });
  }

  override async callToolRaw(call: ToolCall, options: CallOptions): Promise<unknown> {
    const result = await super.callToolRaw(call, options);
    this.#sent.set(call, withWholeStrings(result, options.spills));
    return result;
  }

  sentFor(call: ToolCall): SentResult {
    return this.#sent.get(call) as SentResult;
  }
}

/** A copy in which the strings that were decoded on their way in are there again. */
function withWholeStrings(result: unknown, spills: Spills | undefined): unknown {
  return JSON.parse(JSON.stringify(result), (_key, value: unknown) => {
    const spill = typeof value === 'string' ? spills?.find(value) : undefined;
    return spill?.kind === 'bytes' ? readFileSync(spill.path).toString('base64') : value;
  });
}

/** A schema that checks nothing, so that the answer is the server's own. */
const LOOSE: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) },
};

export interface BareClient {
  call(tool: string, args?: Arguments): Promise<SentResult>;
  close(): Promise<void>;
}

/** The SDK's client without any of our code: an independent witness of what a server sends. */
export async function connectBareClient(config: StdioServer): Promise<BareClient> {
  const client = new Client(CLIENT_INFO);
  const { command, args, env } = config;
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'ignore' }),
  );
  return {
    call: async (name, args = {}) => {
      const request = { method: 'tools/call', params: { name, arguments: { ...args } } };
      return (await client.request(request, LOOSE)) as SentResult;
    },
    close: () => client.close(),
  };
}
