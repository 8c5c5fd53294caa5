import type { Address, ChatId, Entry, FoundEntry } from './types.ts';

export interface CatalogOptions {
  /** Folders with chats; chats are looked for in the folders below them too. */
  readonly folders: readonly string[];
}

export interface Snapshot {
  /** Chats first, then their assets; the latest first. */
  readonly entries: readonly Entry[];
  /** Every folder that was looked into, by its real path: where something may change. */
  readonly folders: readonly string[];
  /** What could not be looked into, or was left out because there is too much. */
  readonly notes: readonly string[];
}

/** The chats and assets in some folders. Asks the disk each time, and reads again only what has changed. */
export class Catalog {
  readonly #options: CatalogOptions;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  async snapshot(_signal?: AbortSignal): Promise<Snapshot> {
    throw new Error(`to be built: ${this.#options.folders.length}`);
  }

  /** Rejects with a `CatalogRefusal` for what is not there and for what leads out of the folders. */
  async find(_address: Address): Promise<FoundEntry> {
    throw new Error('to be built');
  }

  /** The real path of the folder whose `cmdassets/` belongs to the id. Rejects as `find` does. */
  async folderOf(_chat: ChatId): Promise<string> {
    throw new Error('to be built');
  }
}
