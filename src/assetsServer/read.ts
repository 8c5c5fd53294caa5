import { readAddress } from '../catalog/address.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { CatalogRefusal, type FoundEntry } from '../catalog/entry.ts';

const BY_NAME = /^asset:(?:\/\/)?(.*)$/is;
const MAX_NAMED = 5;

/** By its address. Rejects with a `CatalogRefusal`. */
export async function findByUri(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const read = readAddress(uri);
  if (!read.ok) throw new CatalogRefusal(read.reason);
  return catalog.find(read.address);
}

/** By its address, or as `asset:NAME` where only one asset is called so. */
export async function findReadable(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const [, name] = BY_NAME.exec(uri) ?? [];
  if (name === undefined) return findByUri(catalog, uri);
  const named = await catalog.findByName(name);
  const [only] = named;
  if (only === undefined)
    throw new CatalogRefusal(`There is no asset of this name. Find it with list_assets.`);
  if (named.length > 1) {
    const uris = named.slice(0, MAX_NAMED).map((entry) => entry.uri);
    throw new CatalogRefusal(`Several assets have this name. Say which by its address: ${uris.join(', ')}`);
  }
  return findByUri(catalog, only.uri);
}
