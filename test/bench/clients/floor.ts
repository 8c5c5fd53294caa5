import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';
import { type BenchClient, type Item, type Load, loadArguments, type Target } from '../types.ts';
import { BlocksSink, ImageSink, type Sink } from './floorSinks.ts';

/**
 * As little as a client in Node can do: it reads what comes, finds the string, decodes it and writes it. It
 * knows the one shape of answer that the bench server gives, and trusts it.
 */
export async function connect(target: Target): Promise<BenchClient> {
  return target.kind === 'http' ? connectHttp(target.url) : connectStdio(target.command, target.args);
}

async function connectStdio(command: string, args: readonly string[]): Promise<BenchClient> {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  return {
    call(load, folder) {
      const answer = readLine(server.stdout, createSink(load, folder));
      server.stdin.write(`${requestText(load)}\n`);
      return answer;
    },
    async close() {
      const closed = once(server, 'close');
      server.stdin.end();
      await closed;
    },
  };
}

function connectHttp(url: string): BenchClient {
  return {
    async call(load, folder) {
      const headers = { 'content-type': 'application/json' };
      const sent = request(url, { method: 'POST', headers }).end(requestText(load));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return readBody(response, createSink(load, folder));
    },
    close: async () => {},
  };
}

function requestText(load: Load): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: loadArguments(load) });
}

function createSink(load: Load, folder: string): Sink {
  return load.kind === 'image' ? new ImageSink(folder) : new BlocksSink(folder);
}

const NEWLINE = 0x0a;

function readLine(stream: Readable, sink: Sink): Promise<readonly Item[]> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      sink.write(chunk);
      // The server sends one line for one request, so the newline can only be the last byte.
      if (chunk[chunk.length - 1] !== NEWLINE) return;
      stream.off('data', onData).off('end', onEnd);
      resolve(sink.end());
    };
    const onEnd = () => reject(new Error('The server ended.'));
    stream.on('data', onData).once('end', onEnd);
  });
}

function readBody(body: Readable, sink: Sink): Promise<readonly Item[]> {
  return new Promise((resolve, reject) => {
    body.on('data', (chunk: Buffer) => sink.write(chunk));
    body.once('end', () => resolve(sink.end())).once('error', reject);
  });
}
