const MAX_LINES = 1000;
const WINDOW_MS = 60_000;

/** How much of what a server says is logged: a thousand lines a minute, so that a flood cannot fill the log. */
export class LogLimit {
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #lines = 0;

  /** Whether a line is logged; `last` says that the following ones are not, for a while. */
  take(nowMs: number): 'log' | 'last' | 'drop' {
    if (nowMs - this.#startedAtMs >= WINDOW_MS) {
      this.#startedAtMs = nowMs;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines <= MAX_LINES) return 'log';
    return this.#lines === MAX_LINES + 1 ? 'last' : 'drop';
  }
}
