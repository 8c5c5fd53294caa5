import type { Catalog } from '../catalog/catalog.ts';
import { type CatalogChange, watchCatalog } from '../catalog/watch.ts';
import type { Disposable } from '../ports/document.ts';

export interface Joined extends Disposable {
  /** Resolves when every further change is reported. Rejects when the folders cannot be watched. */
  readonly ready: Promise<void>;
}

/** Shares one watcher among all listeners; there is none without listeners. */
export class Watching implements Disposable {
  readonly #catalog: Catalog;
  readonly #log: (message: string) => void;
  readonly #listeners = new Set<(change: CatalogChange) => void>();
  #watch: Promise<Disposable> | undefined;

  constructor(catalog: Catalog, log: (message: string) => void) {
    this.#catalog = catalog;
    this.#log = log;
  }

  join(onChange: (change: CatalogChange) => void): Joined {
    // A new function each time, so that a callback that joins twice is called twice.
    const listener = (change: CatalogChange) => onChange(change);
    this.#listeners.add(listener);
    const watch = this.#watch ?? this.#start();
    return {
      ready: watch.then(() => undefined),
      dispose: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.dispose();
      },
    };
  }

  dispose(): void {
    const watch = this.#watch;
    this.#watch = undefined;
    this.#listeners.clear();
    watch?.then(
      (started) => started.dispose(),
      () => undefined,
    );
  }

  #start(): Promise<Disposable> {
    const watch = watchCatalog(this.#catalog, (change) => this.#tell(change), { onNote: this.#log });
    this.#watch = watch;
    // The next listener tries again.
    watch.catch(() => {
      if (this.#watch === watch) this.#watch = undefined;
    });
    return watch;
  }

  #tell(change: CatalogChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
