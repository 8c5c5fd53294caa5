import { readFileSync } from 'node:fs';
import { Client, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { ServerConfig, StdioServer } from '../../../src/mcp/config/types.ts';
import type { CallOptions, McpClient } from '../../../src/mcpClient.ts';
import type { Spills } from '../../../src/ports/results.ts';
import type { ToolCall, ToolCallOptions } from '../../../src/ports/tools.ts';
import type { Cleanup } from '../../kit/folder.ts';
import { type Arguments, type Called, serve } from './serving.ts';

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

export interface Session {
  readonly client: McpClient;
  /** Calls `SERVER.TOOL`; `sent` is the result as the server sent it. */
  call(name: string, args?: Arguments, options?: Omit<ToolCallOptions, 'assets'>): Promise<CalledAndSent>;
}

export interface CalledAndSent extends Called {
  readonly sent: SentResult;
}

/** A client of real servers that also keeps the results as they were sent. */
export function openSession(cleanup: Cleanup, servers: Readonly<Record<string, ServerConfig>>): Session {
  const { client, callInChat } = serve(cleanup, servers);
  let sent: unknown;
  const callToolRaw = client.callToolRaw.bind(client);
  client.callToolRaw = async (call: ToolCall, options: CallOptions = {}) => {
    const result = await callToolRaw(call, options);
    sent = withWholeStrings(result, options.spills);
    return result;
  };
  return {
    client,
    call: async (...args) => ({ ...(await callInChat(...args)), sent: sent as SentResult }),
  };
}

/** A copy with the strings that were decoded to files. */
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
  const client = new Client({ name: 'filechat-integration', version: '1' });
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
