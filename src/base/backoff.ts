const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** A server that lived as long as this was well. */
const HEALTHY_MS = 60_000;

/** How often a server has failed in a row, and when it may be tried again. */
export class Backoff {
  #failures = 0;
  #reason = '';
  #retryAtMs = 0;

  get failures(): number {
    return this.#failures;
  }

  /** Why it failed last; nothing when it is well. */
  get reason(): string | undefined {
    return this.#failures === 0 ? undefined : this.#reason;
  }

  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** The first failure costs nothing; each further one doubles the wait. */
  failed(reason: string, { nowMs, livedMs }: { readonly nowMs: number; readonly livedMs: number }): void {
    if (livedMs >= HEALTHY_MS) this.#failures = 0;
    this.#failures += 1;
    this.#reason = reason;
    const doublings = this.#failures - 2;
    this.#retryAtMs = doublings < 0 ? nowMs : nowMs + Math.min(FIRST_DELAY_MS * 2 ** doublings, MAX_DELAY_MS);
  }

  /** Somebody has asked for another try, or it works. */
  reset(): void {
    this.#failures = 0;
    this.#retryAtMs = 0;
  }

  /** What to tell somebody who comes too early; nothing when it may be tried. */
  refusal(nowMs: number): string | undefined {
    const waitMs = this.#retryAtMs - nowMs;
    if (waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1000);
    return `it failed ${this.#failures} times in a row and may be tried again in ${seconds} s, or at once with “Filechat: Restart Server”. Last time: ${this.#reason}`;
  }
}
