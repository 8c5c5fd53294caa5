import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssetBytes, AssetStore, NewAsset, ResultAssets } from '../ports.ts';
import { FolderIndex } from './folderIndex.ts';
import { sweepLeftovers } from './leftovers.ts';
import { ASSET_FOLDER, newResultId } from './names.ts';
import { type AssetPlace, NumberedAssets, type NumberedOptions } from './numbered.ts';
import { createWholeFile, hasCode } from './writeFile.ts';

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
