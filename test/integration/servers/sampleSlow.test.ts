import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../samples/server/main.ts', import.meta.url));

/** The messages of the server, line by line; a client would drop progress that arrives together with the result. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly progress?: number; readonly message?: string };
}

type Send = (message: object) => void;

const children: ChildProcess[] = [];

/** Calls `slow` as request 2, ends the server's input once `isEnough` returns true, and waits for it to exit. */
async function callSlow(args: object, isEnough: (message: Message, send: Send) => boolean) {
  const child = spawn(process.execPath, [MAIN], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const send: Send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const messages: Message[] = [];
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    messages.push(message);
    if (!child.stdin.writableEnded && isEnough(message, send)) child.stdin.end();
  });
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  send({ id: 1, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  const call = { name: 'slow', arguments: args, _meta: { progressToken: 'p' } };
  send({ id: 2, method: 'tools/call', params: call });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  return { messages, progress: messages.filter(({ method }) => method === 'notifications/progress') };
}

describe('slow', () => {
  after(() => {
    for (const child of children) child.kill();
  });

  it('reports its progress', async () => {
    const { progress } = await callSlow({ seconds: 0, steps: 3 }, ({ id }) => id === 2);
    assert.deepEqual(
      progress.map(({ params }) => params?.message),
      ['Step 1 of 3', 'Step 2 of 3', 'Step 3 of 3'],
    );
  });

  // The SDK sends nothing for a cancelled call whether or not its tool continues, so that proves nothing.
  // Instead: with ten minutes of work left, the process would not exit when its input ends.
  it('stops working when it is cancelled', { timeout: 60_000 }, async () => {
    const { messages } = await callSlow({ seconds: 600, steps: 1 }, ({ id }, send) => {
      if (id === 1) send({ method: 'notifications/cancelled', params: { requestId: 2 } });
      return id === 1;
    });
    assert.ok(!messages.some(({ id }) => id === 2));
  });
});
