import { type Timer, unlessAborted } from '../../base/async.ts';

/** The longest time that timers support. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The timers of one server's requests. They pause while the user answers a prompt of that server. A prompt lives as
 * long as a request to the server is pending.
 */
export class RequestTimers {
  readonly #timers = new Set<Timer>();
  #prompts = 0;
  #requests = 0;
  #cancelled = new AbortController();

  /** Aborted when the open prompts are cancelled. */
  get promptSignal(): AbortSignal {
    return this.#cancelled.signal;
  }

  async pauseWhile<T>(prompt: Promise<T>): Promise<T> {
    const { promptSignal } = this;
    this.#prompts += 1;
    for (const timer of this.#timers) timer.pause();
    try {
      return await unlessAborted(prompt, promptSignal);
    } finally {
      this.#prompts -= 1;
      if (this.#prompts === 0) for (const timer of this.#timers) timer.resume();
    }
  }

  /** Runs a request with its timers. Aborting the last pending request also cancels the prompts. */
  async run<T>(
    timers: readonly Timer[],
    signal: AbortSignal | undefined,
    request: () => Promise<T>,
  ): Promise<T> {
    this.#requests += 1;
    for (const timer of timers) {
      if (this.#prompts > 0) timer.pause();
      this.#timers.add(timer);
    }
    try {
      return await request();
    } finally {
      for (const timer of timers) {
        timer.stop();
        this.#timers.delete(timer);
      }
      this.#requests -= 1;
      if (signal?.aborted && this.#requests === 0) this.cancelPrompts(signal.reason);
    }
  }

  cancelPrompts(reason?: unknown): void {
    this.#cancelled.abort(reason);
    this.#cancelled = new AbortController();
  }
}
