import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { customAlphabet } from 'nanoid';
import { hasCode, messageOf, writeFailure } from '../base/errors.ts';
import { ASSET_FOLDER, assetName } from '../base/names.ts';
import type { AssetBytes, AssetKind, AssetStore, NewAsset, ResultAssets } from '../ports/results.ts';
import { FolderIndex } from './folderIndex.ts';
import { createWholeFile, sweepLeftovers } from './writeFile.ts';

const LETTERS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RESULT_ID_CHARS = 10;

export const newResultId: () => string = customAlphabet(LETTERS_AND_DIGITS, RESULT_ID_CHARS);

export interface FolderAssetsOptions extends Partial<NumberedOptions> {
  /** The folder of the chat; assets go to `cmdassets/` in it. */
  readonly folder: string;
}

/** Assets on a local disk. It caches what the folder contains, so keep one per folder rather than one per result. */
export class FolderAssets implements AssetStore, AssetPlace {
  readonly #chatFolder: string;
  readonly #options: NumberedOptions;
  #opened: { readonly folder: string; readonly index: FolderIndex } | undefined;

  constructor({ folder, ...options }: FolderAssetsOptions) {
    this.#chatFolder = folder;
    this.#options = { linkPrefix: ASSET_FOLDER, now: () => new Date(), newId: newResultId, ...options };
  }

  beginResult(): ResultAssets {
    return new NumberedAssets(this, this.#options);
  }

  async spillFolder(): Promise<string> {
    return (await this.#open()).folder;
  }

  async find(asset: NewAsset): Promise<string | undefined> {
    const { index } = await this.#open();
    // Problems with existing files must not prevent a save.
    return index.find(asset).catch(() => undefined);
  }

  async create(name: string, bytes: AssetBytes): Promise<boolean> {
    return createWholeFile(join((await this.#open()).folder, name), bytes);
  }

  async remember(name: string, asset: NewAsset): Promise<void> {
    await this.#opened?.index.add(name, asset).catch(() => undefined);
  }

  explain(error: unknown): string {
    const reason = writeFailure(error);
    return reason === undefined ? messageOf(error) : `${reason}.`;
  }

  /** Checked before every use, because the folder may have been replaced by a link. */
  async #open(): Promise<{ readonly folder: string; readonly index: FolderIndex }> {
    const folder = await makeAssetFolder(this.#chatFolder);
    if (this.#opened?.folder !== folder) {
      this.#opened = { folder, index: new FolderIndex(folder) };
      await sweepLeftovers(folder).catch(() => undefined);
    }
    return this.#opened;
  }
}

/** Creates `cmdassets/` if needed. It must be a real folder: a link could send the files anywhere. */
async function makeAssetFolder(chatFolder: string): Promise<string> {
  const folder = join(await realpath(chatFolder), ASSET_FOLDER);
  await mkdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
  const found = await lstat(folder);
  if (found.isSymbolicLink()) throw new Error('it is a symbolic link. Put a real folder in its place.');
  if (!found.isDirectory()) throw new Error('it is a file. Put a folder in its place.');
  return folder;
}

/** A `cmdassets/` folder, on a local disk or in one of the editor's file systems. */
export interface AssetPlace {
  spillFolder(): Promise<string>;
  /** The name of a known file of the same kind with the same bytes. */
  find(asset: NewAsset): Promise<string | undefined>;
  /** Creates the whole file or nothing. Resolves to false when the name is taken. */
  create(name: string, bytes: AssetBytes): Promise<boolean>;
  remember(name: string, asset: NewAsset): Promise<void>;
  /** What went wrong and what to do, as the end of a sentence. */
  explain(error: unknown): string;
}

export interface NumberedOptions {
  /** The part of a link before the file name; the whole path for a chat that is not saved. */
  readonly linkPrefix: string;
  readonly now: () => Date;
  readonly newId: () => string;
}

const MAX_NAME_TRIES = 5;

/** The assets of one result: numbered, never overwritten, and without duplicates. */
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
    const { kind } = asset;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    try {
      return { number, path: `${this.#options.linkPrefix}/${await this.#store(asset, number)}` };
    } catch (error) {
      const reason = this.#place.explain(error);
      throw new Error(`Could not save ${kind} ${number} to ${ASSET_FOLDER}/: ${reason}`, { cause: error });
    }
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
    throw new Error('every name that was tried is taken. Call the tool again.');
  }
}
