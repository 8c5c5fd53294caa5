/** `Map.groupBy`, which Node 20 does not have. */
export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** A least recently used cache. */
export class RecentValues<V> {
  readonly #max: number;
  readonly #values = new Map<string, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string, create: () => V): V {
    const value = this.#values.get(key) ?? create();
    // Reinserted, so that the least recently used value is the first.
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (oldest !== undefined && this.#values.size > this.#max) this.#values.delete(oldest);
    return value;
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
