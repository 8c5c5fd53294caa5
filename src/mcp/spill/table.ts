import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Spill, Spills } from '../../ports/results.ts';

import { renderPlaceholder } from '../../result/findBytes.ts';
import { SpillFile } from './file.ts';

export interface SpillTableOptions {
  /** Where files may be made. Asked for when the first one is. */
  readonly folder: () => Promise<string>;
  /** The most that one string may decode to. */
  readonly maxBytes: number;
}

/** The long strings of one call's result. Whoever makes a table disposes it, however the call ends. */
export class SpillTable implements Spills {
  /** Called whenever more of a long string has come: the server works, though nothing can be told yet. */
  onArrival: (() => void) | undefined;
  /** Told a few times a second how much of a long answer has come. */
  onBytes: ((bytes: number) => void) | undefined;
  readonly #options: SpillTableOptions;
  /** Never sent anywhere, so no server can write a string that is taken for a placeholder. */
  readonly #secret = randomBytes(16).toString('hex');
  readonly #spills = new Map<string, Spill>();
  /** Files that are still being written. */
  readonly #open = new Set<SpillFile>();
  #disposed = false;

  constructor(options: SpillTableOptions) {
    this.#options = options;
  }

  get maxBytes(): number {
    return this.#options.maxBytes;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  find(text: string): Spill | undefined {
    return this.#spills.get(text);
  }

  begin(): SpillFile {
    const file = new SpillFile(this.#options.folder);
    this.#open.add(file);
    return file;
  }

  /** Remembers what became of a file that was begun here; returns the placeholder that stands for it. */
  async keep(file: SpillFile, spill: Spill): Promise<string> {
    this.#open.delete(file);
    const placeholder = renderPlaceholder(this.#secret, this.#spills.size);
    this.#spills.set(placeholder, spill);
    if (this.#disposed && spill.kind === 'bytes') await rm(spill.path, { force: true });
    return placeholder;
  }

  async drop(file: SpillFile): Promise<void> {
    await file.discard();
    // Only now, so that who disposes the table meanwhile waits for the file's end too.
    this.#open.delete(file);
  }

  /** An empty table with the same limits, for a result whose call is not known yet. */
  another(): SpillTable {
    const table = new SpillTable(this.#options);
    table.onArrival = this.onArrival;
    return table;
  }

  /** Takes over what another table holds. */
  async adopt(other: SpillTable): Promise<void> {
    if (this.#disposed) return other.dispose();
    for (const [placeholder, spill] of other.#spills) this.#spills.set(placeholder, spill);
    other.#spills.clear();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const kept = [...this.#spills.values()].flatMap((spill) => (spill.kind === 'bytes' ? [spill.path] : []));
    this.#spills.clear();
    await Promise.all([
      ...[...this.#open].map((file) => this.drop(file)),
      ...kept.map((path) => rm(path, { force: true })),
    ]);
  }
}
