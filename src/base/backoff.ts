const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** A server that ran this long before it failed was healthy. */
const HEALTHY_MS = 60_000;

export class Backoff {
  #failures = 0;
  #reason = '';
  #retryAtMs = 0;

  get failures(): number {
    return this.#failures;
  }

  get reason(): string | undefined {
    return this.#failures === 0 ? undefined : this.#reason;
  }

  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** The first failure causes no delay; each further failure doubles it. */
  failed(reason: string, { nowMs, livedMs }: { readonly nowMs: number; readonly livedMs: number }): void {
    if (livedMs >= HEALTHY_MS) this.#failures = 0;
    this.#failures += 1;
    this.#reason = reason;
    const doublings = this.#failures - 2;
    this.#retryAtMs = doublings < 0 ? nowMs : nowMs + Math.min(FIRST_DELAY_MS * 2 ** doublings, MAX_DELAY_MS);
  }

  reset(): void {
    this.#failures = 0;
    this.#retryAtMs = 0;
  }

  refusal(nowMs: number): string | undefined {
    const waitMs = this.#retryAtMs - nowMs;
    if (waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1000);
    return `it failed ${this.#failures} times in a row. Try again in ${seconds} s, or run “Filechat: Restart Server” now. Last error: ${this.#reason}`;
  }
}
