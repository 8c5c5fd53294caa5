import type { Disposable } from '../ports.ts';
import type { Catalog } from './catalog.ts';

export interface CatalogChange {
  /** Something has come, gone, or is called otherwise. */
  readonly list: boolean;
  /** What is still there and is not what it was. */
  readonly updated: readonly string[];
}

/** Tells what has changed, once for many changes that come together. */
export async function watchCatalog(
  _catalog: Catalog,
  _onChange: (change: CatalogChange) => void,
): Promise<Disposable> {
  throw new Error('to be built');
}
