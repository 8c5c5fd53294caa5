import type { Stats } from 'node:fs';

interface Kept<T> {
  readonly version: string;
  /** False when another write might leave time and size unchanged. */
  readonly isSettled: boolean;
  readonly value: T;
}

/** What was read from files, by path. Each version of a file is read once. */
export class FileMemory<T> {
  readonly #kept = new Map<string, Kept<T>>();

  async read(path: string, stats: Stats, load: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(path);
    const version = versionOf(stats);
    if (known?.version === version && known.isSettled) return known.value;
    const isSettled = Date.now() - stats.mtimeMs > SETTLED_MS;
    const value = await load();
    this.#kept.set(path, { version, isSettled, value });
    return value;
  }

  /** The version that was read last, which may be outdated. */
  known(path: string): T | undefined {
    return this.#kept.get(path)?.value;
  }

  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#kept.keys()) if (!paths.has(path)) this.#kept.delete(path);
  }
}

/** Some file systems store times in steps of two seconds. */
const SETTLED_MS = 2_000;

export function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}
