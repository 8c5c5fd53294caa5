import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Spill, Spills } from '../../ports/results.ts';
import { renderPlaceholder } from '../../result/findBytes.ts';
import { SpillFile } from './file.ts';

export interface SpillTableOptions {
  /** Called when the first file is created. */
  readonly folder: () => Promise<string>;
  /** The limit for one decoded string. */
  readonly maxBytes: number;
}

/** The long strings of one result. The creator of a table disposes it, however the request ends. */
export class SpillTable implements Spills {
  readonly #options: SpillTableOptions;
  /** Never sent, so no server can forge a placeholder. */
  readonly #secret = randomBytes(16).toString('hex');
  readonly #spills = new Map<string, Spill>();
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

  /** Records the outcome of a file and resolves to its placeholder. */
  async keep(file: SpillFile, spill: Spill): Promise<string> {
    this.#open.delete(file);
    const placeholder = renderPlaceholder(this.#secret, this.#spills.size);
    this.#spills.set(placeholder, spill);
    if (this.#disposed && spill.kind === 'bytes') await rm(spill.path, { force: true });
    return placeholder;
  }

  async drop(file: SpillFile): Promise<void> {
    await file.discard();
    // Only now, so that a concurrent dispose() waits for the file too.
    this.#open.delete(file);
  }

  /** An empty table with the same limits, for a result whose request is not known yet. */
  createSibling(): SpillTable {
    return new SpillTable(this.#options);
  }

  /** Takes over the strings of a sibling. */
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
