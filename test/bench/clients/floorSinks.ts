import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { SmallBlock } from '../payload.ts';
import type { Item } from '../types.ts';

export interface Sink {
  write(chunk: Buffer): void;
  end(): readonly Item[];
}

const DATA = Buffer.from('"data":"');
const QUOTE = 0x22;
/** A multiple of four; larger batches were slower and took more memory. */
const BATCH_BYTES = 64 * 1024;

/** Decodes the one long string of a result into a file, batch by batch. */
export class ImageSink implements Sink {
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

/** Small blocks come in a small message: the quickest way through it is the engine's own parser. */
export class BlocksSink implements Sink {
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
