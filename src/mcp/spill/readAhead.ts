import type { Readable } from 'node:stream';

/** What may arrive before it is read; more stays with the sender. */
const MAX_WAITING_BYTES = 256 * 1024;

/** Reads a stream chunk by chunk as it arrives. An iterator of the stream would be slower. */
export class ReadAhead {
  readonly #stream: Readable;
  readonly #onEnd: (() => void) | undefined;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(stream: Readable, onEnd?: () => void) {
    this.#stream = stream;
    this.#onEnd = onEnd;
    stream
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => this.#end())
      .on('error', (error) => this.#end(error))
      .on('close', () => this.#end(new Error('The connection was closed.')));
  }

  /** Undefined at the end. Rejects if the stream fails or is closed before it. */
  async next(): Promise<Buffer | undefined> {
    while (this.#waiting.length === 0 && !this.#ended) {
      if (this.#stream.isPaused()) this.#stream.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#waiting.shift();
    this.#bytes -= chunk?.length ?? 0;
    if (chunk === undefined && this.#error !== undefined) throw this.#error;
    return chunk;
  }

  cancel(): void {
    this.#waiting = [];
    this.#end();
  }

  #take(chunk: Buffer): void {
    if (this.#ended) return;
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= MAX_WAITING_BYTES) this.#stream.pause();
    this.#wake?.();
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#onEnd?.();
    this.#wake?.();
  }
}
