/** Runs the first work of a key at once, and of those that follow within the interval only the last, at its end. */
export class Throttle {
  readonly #ms: number;
  readonly #pending = new Map<string, { readonly timer: NodeJS.Timeout; work?: () => void }>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  dispose(): void {
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  run(key: string, work: () => void): void {
    const pending = this.#pending.get(key);
    if (pending) {
      pending.work = work;
      return;
    }
    // Before the work, which may call `run` again.
    this.#pending.set(key, { timer: setTimeout(() => this.#end(key), this.#ms) });
    work();
  }

  #end(key: string): void {
    const work = this.#pending.get(key)?.work;
    this.#pending.delete(key);
    if (work) this.run(key, work);
  }
}
