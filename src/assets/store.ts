import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../base/errors.ts';
import type { AssetBytes, AssetKind, AssetStore, NewAsset, ResultAssets } from '../ports/results.ts';

import { FolderIndex } from './folderIndex.ts';
import { ASSET_FOLDER, assetName, newResultId } from './names.ts';
import { createWholeFile, sweepLeftovers } from './writeFile.ts';

export interface FolderAssetsOptions extends Partial<NumberedOptions> {
  /** The folder of the chat; assets go to `cmdassets/` in it. */
  readonly folder: string;
  /** What links begin with; a chat that is not saved needs the whole path. */
  readonly linkPrefix?: string;
}

/**
 * The files behind the links: numbered, never overwritten, never outside of `cmdassets/`. It remembers what
 * the folder holds, so keep one for each folder rather than one for each result.
 */
export class FolderAssets implements AssetStore {
  readonly #place: FolderPlace;
  readonly #options: NumberedOptions;

  constructor({ folder, ...options }: FolderAssetsOptions) {
    this.#place = new FolderPlace(folder);
    this.#options = { linkPrefix: ASSET_FOLDER, now: () => new Date(), newId: newResultId, ...options };
  }

  beginResult(): ResultAssets {
    return new NumberedAssets(this.#place, this.#options);
  }
}

class FolderPlace implements AssetPlace {
  readonly #chatFolder: string;
  #opened: { readonly folder: string; readonly index: FolderIndex } | undefined;

  constructor(chatFolder: string) {
    this.#chatFolder = chatFolder;
  }

  async spillFolder(): Promise<string> {
    return (await this.#open()).folder;
  }

  async find(asset: NewAsset): Promise<string | undefined> {
    const { index } = await this.#open();
    // Whatever is wrong with the files that are there, these bytes can still be stored.
    return index.find(asset).catch(() => undefined);
  }

  async create(name: string, bytes: AssetBytes): Promise<boolean> {
    return createWholeFile(join((await this.#open()).folder, name), bytes);
  }

  async remember(name: string, asset: NewAsset): Promise<void> {
    await this.#opened?.index.add(name, asset).catch(() => undefined);
  }

  explain(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    const code = 'code' in error ? String(error.code) : '';
    return REASONS[code] ?? error.message;
  }

  /** Looked at before every use: what was a folder a minute ago may be a link by now. */
  async #open(): Promise<{ readonly folder: string; readonly index: FolderIndex }> {
    const folder = await ownFolder(this.#chatFolder);
    if (this.#opened?.folder !== folder) {
      this.#opened = { folder, index: new FolderIndex(folder) };
      await sweepLeftovers(folder).catch(() => undefined);
    }
    return this.#opened;
  }
}

/** `cmdassets/` as a real folder inside the chat's folder: a link could lead the files anywhere. */
async function ownFolder(chatFolder: string): Promise<string> {
  const folder = join(await realpath(chatFolder), ASSET_FOLDER);
  await mkdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  const found = await lstat(folder);
  if (found.isSymbolicLink()) throw new Error('it is a symbolic link. Put a real folder in its place.');
  if (!found.isDirectory()) throw new Error('it is a file. Put a folder in its place.');
  return folder;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full. Free some space and call the tool again.',
  EDQUOT: 'your disk quota is used up. Free some space and call the tool again.',
  EROFS: 'the disk is read-only.',
  EACCES: 'the folder may not be written to. Change its permissions and call the tool again.',
  EPERM: 'the folder may not be written to. Change its permissions and call the tool again.',
  ENOENT: 'the folder of the chat does not exist.',
  ENAMETOOLONG: 'the path of the chat is too long.',
};

/** A `cmdassets/` somewhere: on a disk, or behind the editor's file systems. */
export interface AssetPlace {
  spillFolder(): Promise<string>;
  /** The name of a file of the same kind that holds the same bytes, if one is known. */
  find(asset: NewAsset): Promise<string | undefined>;
  /** Creates the whole file or nothing. Resolves to false when the name is taken. */
  create(name: string, bytes: AssetBytes): Promise<boolean>;
  /** Learns of a file that was created. */
  remember(name: string, asset: NewAsset): Promise<void>;
  /** The end of a sentence: what went wrong, and what to do. */
  explain(error: unknown): string;
}

export interface NumberedOptions {
  /** What links begin with. */
  readonly linkPrefix: string;
  readonly now: () => Date;
  readonly newId: () => string;
}

const MAX_NAME_TRIES = 5;

/** The assets of one result: numbered, never overwritten, and the same bytes only once. */
export class NumberedAssets implements ResultAssets {
  readonly #place: AssetPlace;
  readonly #options: NumberedOptions;
  readonly #time: Date;
  readonly #counts = new Map<AssetKind, number>();
  #resultId: string;

  constructor(place: AssetPlace, options: NumberedOptions) {
    this.#place = place;
    this.#options = options;
    this.#resultId = options.newId();
    this.#time = options.now();
  }

  spillFolder(): Promise<string> {
    return this.#place.spillFolder();
  }

  async save(asset: NewAsset): Promise<{ readonly number: number; readonly path: string }> {
    const number = (this.#counts.get(asset.kind) ?? 0) + 1;
    this.#counts.set(asset.kind, number);
    const name = await this.#store(asset, number).catch((error: unknown) => {
      const reason = this.#place.explain(error);
      throw new Error(`Could not save ${asset.kind} ${number} to ${ASSET_FOLDER}/: ${reason}`, {
        cause: error,
      });
    });
    return { number, path: `${this.#options.linkPrefix}/${name}` };
  }

  async #store(asset: NewAsset, number: number): Promise<string> {
    const same = await this.#place.find(asset);
    if (same !== undefined) return same;
    const { kind, extension, bytes } = asset;
    for (let tries = 0; tries < MAX_NAME_TRIES; tries += 1) {
      const name = assetName({ kind, extension, number, time: this.#time, resultId: this.#resultId });
      if (await this.#place.create(name, bytes)) {
        await this.#place.remember(name, asset);
        return name;
      }
      this.#resultId = this.#options.newId();
    }
    throw new Error('every name that was tried is taken.');
  }
}
