import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type BenchClient, loadArguments, MAX_MESSAGE_BYTES, NO_TIMEOUT_MS, type Target } from '../types.ts';
import { saveBlocks } from './saveBlocks.ts';

/** The client of SDK v2, with a raised limit for the size of a message. */
export async function connect(target: Target): Promise<BenchClient> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(createTransport(target));
  return {
    async call(load, folder) {
      const { content } = await client.callTool(loadArguments(load), { timeout: NO_TIMEOUT_MS });
      return saveBlocks(content, folder);
    },
    close: () => client.close(),
  };
}

function createTransport(target: Target): Transport {
  if (target.kind === 'http') return new StreamableHTTPClientTransport(new URL(target.url)) as Transport;
  const { command, args } = target;
  return new StdioClientTransport({ command, args: [...args], maxBufferSize: MAX_MESSAGE_BYTES });
}
