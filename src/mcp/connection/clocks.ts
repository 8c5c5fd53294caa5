import { type Timer, unlessAborted } from '../../base/async.ts';

/**
 * The clocks of one server's requests, and the questions that it has put to a person. While one is open, no clock
 * runs. A question lives as long as anybody wants an answer to a request of that server.
 */
export class Asking {
  readonly #timers = new Set<Timer>();
  #open = 0;
  #underWay = 0;
  #givenUp = new AbortController();

  /** Aborted when nobody wants the answer any more. */
  get signal(): AbortSignal {
    return this.#givenUp.signal;
  }

  /** Waits for a person, at most as long as somebody waits for the server. */
  async whileAsking<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    this.#open += 1;
    for (const timer of this.#timers) timer.pause();
    try {
      return await unlessAborted(work, signal);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) for (const timer of this.#timers) timer.resume();
    }
  }

  /** Runs a request with its clocks; who stops the last one gives up the questions too. */
  async during<T>(
    timers: readonly Timer[],
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    this.#underWay += 1;
    for (const timer of timers) {
      if (this.#open > 0) timer.pause();
      this.#timers.add(timer);
    }
    try {
      return await work();
    } finally {
      for (const timer of timers) {
        timer.stop();
        this.#timers.delete(timer);
      }
      this.#underWay -= 1;
      if (signal?.aborted && this.#underWay === 0) this.giveUp(signal.reason);
    }
  }

  giveUp(reason?: unknown): void {
    this.#givenUp.abort(reason);
    this.#givenUp = new AbortController();
  }
}
