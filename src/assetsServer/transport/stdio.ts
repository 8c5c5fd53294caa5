import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Follower } from '../changes.ts';
import { createServer } from '../server.ts';
import type { Shared } from '../shared.ts';
import { LineTransport } from './lineTransport.ts';

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly maxMessageBytes: number;
}

/** Serves one client, until its end of the pipe closes or the signal says so. */
export async function serveOverStdio(
  shared: Shared,
  { input, output, maxMessageBytes }: StdioOptions,
  signal: AbortSignal,
): Promise<void> {
  let follower: Follower | undefined;
  let isListening = false;
  const transport = new LineTransport({
    input,
    output,
    maxMessageBytes,
    // The SDK answers this one itself, so that it must be seen on its way: who is told that changes will be told is
    // to miss none.
    before: async (message) => {
      if (!('method' in message) || message.method !== 'subscriptions/listen') return;
      isListening = true;
      await follower?.start();
    },
  });
  const handle = serveStdio(
    async ({ era }) => {
      const created = createServer(shared, era);
      follower = created.follower;
      // It may be the very first message.
      if (isListening) await follower.start();
      return created.server;
    },
    { transport, onerror: ({ message }) => shared.log(message) },
  );
  const stop = () => void handle.close();
  signal.addEventListener('abort', stop);
  await transport.ended;
  signal.removeEventListener('abort', stop);
}
