import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { type BenchClient, loadArguments, MAX_MESSAGE_BYTES, NO_TIMEOUT_MS, type Target } from '../types.ts';
import { saveBlocks } from './saveBlocks.ts';

/** The client of SDK v1, with a raised limit for the size of a message. */
export async function connect(target: Target): Promise<BenchClient> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(createTransport(target));
  return {
    async call(load, folder) {
      const options = { timeout: NO_TIMEOUT_MS };
      const result = await client.callTool(loadArguments(load), CallToolResultSchema, options);
      return saveBlocks((result as CallToolResult).content, folder);
    },
    close: () => client.close(),
  };
}

function createTransport(target: Target): Transport {
  if (target.kind === 'http') return new StreamableHTTPClientTransport(new URL(target.url)) as Transport;
  const { command, args } = target;
  return new StdioClientTransport({ command, args: [...args], maxBufferSize: MAX_MESSAGE_BYTES });
}
