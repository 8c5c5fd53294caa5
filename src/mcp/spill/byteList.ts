const FIRST_BYTES = 4 * 1024;

/** Bytes that grow at their end, up to a limit; beyond it everything is dropped, what is there and what comes. */
export class ByteList {
  readonly #maxBytes: number;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #overflown = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  get overflown(): boolean {
    return this.#overflown;
  }

  append(bytes: Buffer): void {
    if (this.#overflown) return;
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) {
      this.#overflown = true;
      this.#bytes = Buffer.alloc(0);
      this.#length = 0;
      return;
    }
    if (length > this.#bytes.length) this.#grow(length);
    // Copied, because a view would keep the whole chunk of the stream alive.
    bytes.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** A view, good until the next change. */
  from(start: number): Buffer {
    return this.#bytes.subarray(start, this.#length);
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Hands all of it over and starts anew. */
  take(): Buffer {
    const taken = this.from(0);
    this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.#length = 0;
    this.#overflown = false;
    return taken;
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
