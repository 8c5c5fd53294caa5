/** Does things by their key: the first one at once, and of those that come within a while the last, at its end. */
export class Throttle {
  readonly #ms: number;
  /** The whiles that are under way, and what is to be done at the end of each. */
  readonly #waiting = new Map<string, { readonly timer: NodeJS.Timeout; work?: () => void }>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  dispose(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  run(key: string, work: () => void): void {
    const waiting = this.#waiting.get(key);
    if (waiting) {
      waiting.work = work;
      return;
    }
    // Before the work, which may itself be why this is asked for again.
    this.#waiting.set(key, { timer: setTimeout(() => this.#end(key), this.#ms) });
    work();
  }

  #end(key: string): void {
    const work = this.#waiting.get(key)?.work;
    this.#waiting.delete(key);
    if (work) this.run(key, work);
  }
}
