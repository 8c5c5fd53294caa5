/** Whoever asks more than this at once is not waiting for answers. */
const MAX_WAITING = 10;

/** Counts what each server has asked and nobody has answered yet, so that none can bury the user in questions. */
export class PendingRequestLimit {
  readonly #waiting = new Map<string, number>();

  /** Does the work, unless the server has too many questions open; then it rejects with a sentence. */
  async run<T>(server: string, work: () => Promise<T>): Promise<T> {
    const open = this.#waiting.get(server) ?? 0;
    if (open >= MAX_WAITING) throw new Error(`There are ${open} questions open already. Wait for answers.`);
    this.#waiting.set(server, open + 1);
    try {
      return await work();
    } finally {
      this.#leave(server);
    }
  }

  #leave(server: string): void {
    const left = (this.#waiting.get(server) ?? 0) - 1;
    if (left > 0) this.#waiting.set(server, left);
    else this.#waiting.delete(server);
  }
}

/**
 * The servers that the user need not be asked about, for as long as the editor runs. They are known by their
 * fingerprints, so that another one of the same name gets no old consent; one without a fingerprint is nobody's.
 */
export class AlwaysAllowedServers {
  readonly #prints = new Set<string>();

  has(print: string): boolean {
    return this.#prints.has(print);
  }

  add(print: string): void {
    if (print !== '') this.#prints.add(print);
  }

  clear(): void {
    this.#prints.clear();
  }
}
