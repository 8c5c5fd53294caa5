import { BUDGET } from '../../base/budget.ts';

const MAX_PENDING = 10;
const REFUSAL_MS = 5 * 60_000;

/** Limits the pending requests of each server to the user, and how often it asks again after refusals. */
export class PendingRequestLimit {
  readonly #pending = new Map<string, number>();
  /** When the user refused, since the last request that was not refused. */
  readonly #refused = new Map<string, readonly number[]>();
  readonly #now: () => number;

  constructor({ now = () => performance.now() }: { readonly now?: () => number } = {}) {
    this.#now = now;
  }

  /** A rejection counts as a refusal. */
  async run<T>(
    server: string,
    work: () => Promise<T>,
    isRefusal: (result: T) => boolean = () => false,
  ): Promise<T> {
    const open = this.#pending.get(server) ?? 0;
    if (open >= MAX_PENDING)
      throw new Error(`There are already ${open} pending requests. Wait for responses.`);
    const recent = (this.#refused.get(server) ?? []).filter((at) => this.#now() - at < REFUSAL_MS);
    if (recent.length >= BUDGET.refusals)
      throw new Error(
        `The user declined ${recent.length} requests in a row. Wait a few minutes before you send another one.`,
      );
    this.#refused.set(server, recent);
    this.#pending.set(server, open + 1);
    let refused = true;
    try {
      const result = await work();
      refused = isRefusal(result);
      return result;
    } finally {
      this.#refused.set(server, refused ? [...(this.#refused.get(server) ?? []), this.#now()] : []);
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
