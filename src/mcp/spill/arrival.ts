import type { PendingCalls } from './calls.ts';

/** Less comes at once, and nobody has to be told. */
const MIN_TOLD_BYTES = 1_000_000;
const TELL_EVERY_MS = 250;

/** Tells whoever waits for a long answer how much of it has come, a few times a second. */
export class Arrival {
  readonly #calls: Pick<PendingCalls, 'arrived'>;
  readonly #id: () => number | undefined;
  #bytes = 0;
  /** There while nothing more is told; at its end the last count is. */
  #rest: NodeJS.Timeout | undefined;
  #told = 0;

  /** `id` is asked for the request that the message under way answers, as far as it is known. */
  constructor(calls: Pick<PendingCalls, 'arrived'>, id: () => number | undefined) {
    this.#calls = calls;
    this.#id = id;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_TOLD_BYTES && this.#rest === undefined) this.#tell();
  }

  /** The message has ended, or will not end. */
  end(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#bytes = 0;
    this.#told = 0;
  }

  #tell(): void {
    this.#told = this.#bytes;
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      // Whoever sends nothing more for a while has still sent all this.
      if (this.#bytes > this.#told) this.#tell();
    }, TELL_EVERY_MS).unref();
    this.#calls.arrived(this.#id(), this.#bytes);
  }
}
