const MAX_PENDING = 10;

/** Limits the pending requests of each server to the user. */
export class PendingRequestLimit {
  readonly #pending = new Map<string, number>();

  async run<T>(server: string, work: () => Promise<T>): Promise<T> {
    const open = this.#pending.get(server) ?? 0;
    if (open >= MAX_PENDING)
      throw new Error(`There are already ${open} pending requests. Wait for responses.`);
    this.#pending.set(server, open + 1);
    try {
      return await work();
    } finally {
      const left = (this.#pending.get(server) ?? 0) - 1;
      if (left > 0) this.#pending.set(server, left);
      else this.#pending.delete(server);
    }
  }
}

/**
 * Servers that are always allowed until the editor closes. Stored by fingerprint, so that another server of the same
 * name does not inherit the permission; an empty fingerprint is never stored.
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
