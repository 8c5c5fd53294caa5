import type { PendingCalls } from './pendingCalls.ts';

/** Less comes at once, and nobody has to be told. */
const MIN_TOLD_BYTES = 1_000_000;
const TELL_EVERY_MS = 250;

/** Tells whoever waits for a long answer how much of it has come, a few times a second. */
export class Arrival {
  readonly #calls: Pick<PendingCalls, 'arrived'>;
  readonly #id: () => number | undefined;
  #bytes = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  /** `id` is asked for the request that the message under way answers, as far as it is known. */
  constructor(calls: Pick<PendingCalls, 'arrived'>, id: () => number | undefined) {
    this.#calls = calls;
    this.#id = id;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < MIN_TOLD_BYTES) return;
    const nowMs = performance.now();
    if (nowMs - this.#toldAtMs < TELL_EVERY_MS) return;
    this.#toldAtMs = nowMs;
    this.#calls.arrived(this.#id(), this.#bytes);
  }

  /** The message has ended. */
  end(): void {
    this.#bytes = 0;
    this.#toldAtMs = Number.NEGATIVE_INFINITY;
  }
}
