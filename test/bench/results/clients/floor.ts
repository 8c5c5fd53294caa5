import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SmallBlock } from '../payload.ts';
import { type BenchClient, type Item, type Load, loadArguments, type Target } from '../types.ts';

/** The least that a client in Node can do. It knows the format of the bench server's responses and trusts it. */
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

interface Sink {
  write(chunk: Buffer): void;
  end(): readonly Item[];
}

const DATA = Buffer.from('"data":"');
const QUOTE = 0x22;
/** A multiple of four. Larger batches were slower and used more memory. */
const BATCH_BYTES = 64 * 1024;

/** Decodes the one long string of a result into a file, batch by batch. */
class ImageSink implements Sink {
  readonly #path: string;
  readonly #fd: number;
  readonly #batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  readonly #decoded = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #filled = 0;
  #place: 'before' | 'inside' | 'after' = 'before';
  #head = Buffer.alloc(0);

  constructor(folder: string) {
    this.#path = join(folder, '0.png');
    this.#fd = openSync(this.#path, 'wx');
  }

  write(chunk: Buffer): void {
    if (this.#place === 'inside') this.#take(chunk, 0);
    else if (this.#place === 'before') this.#findString(chunk);
  }

  end(): readonly Item[] {
    closeSync(this.#fd);
    return [{ kind: 'file', path: this.#path }];
  }

  #findString(chunk: Buffer): void {
    this.#head = Buffer.concat([this.#head, chunk]);
    const found = this.#head.indexOf(DATA);
    if (found === -1) return;
    this.#place = 'inside';
    this.#take(this.#head, found + DATA.length);
  }

  #take(chunk: Buffer, from: number): void {
    const quote = chunk.indexOf(QUOTE, from);
    const end = quote === -1 ? chunk.length : quote;
    for (let at = from; at < end; ) {
      const length = Math.min(BATCH_BYTES - this.#filled, end - at);
      chunk.copy(this.#batch, this.#filled, at, at + length);
      this.#filled += length;
      at += length;
      if (this.#filled === BATCH_BYTES) this.#flush();
    }
    if (quote === -1) return;
    this.#place = 'after';
    this.#flush();
  }

  #flush(): void {
    const text = this.#batch.toString('latin1', 0, this.#filled);
    const length = this.#decoded.write(text, 0, BATCH_BYTES, 'base64');
    for (let at = 0; at < length; ) at += writeSync(this.#fd, this.#decoded, at, length - at);
    this.#filled = 0;
  }
}

/** The message is small, so the engine's own parser is the fastest. */
class BlocksSink implements Sink {
  readonly #folder: string;
  readonly #chunks: Buffer[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  write(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(): readonly Item[] {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    const json = text.slice(text.indexOf('{'));
    const { result } = JSON.parse(json) as { result: { content: readonly SmallBlock[] } };
    return result.content.map((block, index) => {
      if (block.type === 'text') return { kind: 'text', text: block.text };
      const path = join(this.#folder, `${index}.png`);
      writeFileSync(path, Buffer.from(block.data, 'base64'));
      return { kind: 'file', path };
    });
  }
}
