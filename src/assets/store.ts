import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { lstat, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { customAlphabet } from 'nanoid';
import { ASSET_FOLDER, assetName, readAssetName } from '../base/assetNames.ts';
import { Queues } from '../base/async.ts';
import { hasCode, messageOf } from '../base/errors.ts';
import { writeFailure } from '../base/fileErrors.ts';
import { sizeOf } from '../media/sniff.ts';
import type {
  AssetKind,
  AssetStore,
  BeginResult,
  NewAsset,
  RecoverableAssets,
  ResultAssets,
} from '../ports/results.ts';
import { describeUnsaved, unsavedTitle } from '../result/unsaved.ts';
import { FolderIndex } from './folderIndex.ts';
import { createSmallFile, createWholeFile, makeFolders, sweepLeftovers, syncFolder } from './writeFile.ts';

const LETTERS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RESULT_ID_CHARS = 10;

export const newResultId: () => string = customAlphabet(LETTERS_AND_DIGITS, RESULT_ID_CHARS);

export interface NamingOptions {
  /** The part of a link before the file name; the whole path for a chat that is not saved. */
  readonly linkPrefix?: string;
  /** A local folder for copies of what cannot be saved. */
  readonly recovery?: string | undefined;
  readonly now?: () => Date;
  readonly newId?: () => string;
}

const MAX_NAME_TRIES = 5;

/** The assets of a `cmdassets/` folder: numbered in each result, never overwritten, and without duplicates. */
export abstract class NumberedAssets implements AssetStore, RecoverableAssets {
  readonly #options: Required<NamingOptions>;
  readonly #saves = new Queues();

  constructor({ linkPrefix = ASSET_FOLDER, recovery, now, newId }: NamingOptions) {
    this.#options = {
      linkPrefix,
      recovery,
      now: now ?? (() => new Date()),
      newId: newId ?? newResultId,
    };
  }

  abstract spillFolder(): Promise<string>;
  /** The name of a known file of the same kind with the same bytes. */
  protected abstract find(asset: NewAsset): Promise<string | undefined>;
  /** Creates the whole file or nothing. Resolves to false when the name is taken. */
  protected abstract create(name: string, asset: NewAsset): Promise<boolean>;
  /** The cause and what to do, as the end of a sentence. */
  protected abstract explain(error: unknown): string;
  protected abstract remove(name: string): Promise<void>;
  /** Makes the files of batches safe. */
  protected async settle(): Promise<void> {}

  /** Saves a copy of another folder's asset under the same name. Resolves to false when the name is taken. */
  async adopt(name: string, bytes: Uint8Array): Promise<boolean> {
    const read = readAssetName(name);
    if (!read) throw new Error(`${name} is not the name of an asset.`);
    try {
      return await this.create(name, { ...read, bytes });
    } catch (error) {
      throw new Error(this.explain(error), { cause: error });
    }
  }

  beginResult({ maker, counts: before, keepsCopies = true }: BeginResult = {}): ResultAssets {
    const { linkPrefix, recovery, now, newId } = this.#options;
    const counts = new Map<AssetKind, number>(before);
    const names = { time: now(), resultId: newId() };
    const partial = new Map<string, string>();
    const store = async (asset: NewAsset, number: number) => {
      const same = asset.isPartial ? undefined : await this.find(asset);
      if (same !== undefined) return same;
      for (let tries = 0; tries < MAX_NAME_TRIES; tries += 1) {
        const name = assetName({ ...asset, ...names, number });
        if (await this.create(name, asset)) return name;
        names.resultId = newId();
      }
      throw new Error('all names that were tried are in use. Call the tool again.');
    };
    const save = async (unnamed: NewAsset) => {
      const asset = { ...unnamed, maker };
      const { kind } = asset;
      const number = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, number);
      try {
        // Assets that could be identical are saved one after the other, so that they share a file.
        const alike = `${kind}.${asset.extension}.${sizeOf(asset.bytes)}`;
        const name = await this.#saves.run(alike, () => store(asset, number));
        if (asset.isPartial) partial.set(`${linkPrefix}/${name}`, name);
        return { number, path: `${linkPrefix}/${name}` };
      } catch (error) {
        const name = assetName({ ...asset, ...names, number });
        const what = unsavedTitle({ kind, number, label: asset.label });
        const reason = this.explain(error);
        if (!keepsCopies || recovery === undefined)
          throw new Error(describeUnsaved(what, reason), { cause: error });
        const message = await this.#keepCopy(name, asset).then(
          (copy) => describeUnsaved(what, reason, copy),
          (lost) =>
            `${describeUnsaved(what, reason)} No copy could be kept in ${recovery}: ${messageOf(lost)}`,
        );
        throw new Error(message, { cause: error });
      }
    };
    // Long strings are not lost either if the folder of the chat cannot be written.
    const spillFolder = (failure?: unknown) =>
      failure === undefined
        ? this.spillFolder().catch((error) => this.#recoveryFolder(error))
        : this.#recoveryFolder(failure);
    const removePartial = async (path: string) => {
      const name = partial.get(path);
      if (name !== undefined) await this.remove(name);
    };
    return { spillFolder, save, settle: () => this.settle(), removePartial };
  }

  async restore(name: string, link: (path: string) => Promise<void>): Promise<void> {
    const about = readAssetName(name);
    const { recovery = '', linkPrefix } = this.#options;
    const copy = join(recovery, name);
    const bytes = about && recovery ? await readFile(copy).catch(() => undefined) : undefined;
    if (!about || !bytes) throw new Error(`There is no copy of ${name} in the recovery folder ${recovery}.`);
    try {
      // The name is only taken if an earlier attempt saved the file and could not link to it.
      await this.create(name, { ...about, bytes });
    } catch (error) {
      throw new Error(describeUnsaved(name, this.explain(error), copy), { cause: error });
    }
    await link(`${linkPrefix}/${name}`);
    await unlink(copy).catch(() => undefined);
  }

  async copies(): Promise<{ readonly folder: string; readonly names: readonly string[] }> {
    const { recovery: folder = '' } = this.#options;
    const names = folder === '' ? [] : await readdir(folder).catch(() => []);
    return { folder, names: names.filter((name) => readAssetName(name)).sort() };
  }

  /** Rejects if the copy cannot be saved either. */
  async #keepCopy(name: string, asset: NewAsset): Promise<string> {
    const copy = join(await this.#recoveryFolder(), name);
    if (await createWholeFile(copy, asset.bytes)) return copy;
    throw new Error(`${name} exists already.`);
  }

  /** Rejects with `cause`, which the user can do something about. */
  async #recoveryFolder(cause?: unknown): Promise<string> {
    const { recovery } = this.#options;
    if (recovery === undefined) throw cause ?? new Error('There is no recovery folder.');
    await makeFolders(recovery, 0o700).catch((error) => Promise.reject(cause ?? error));
    await sweepLeftovers(recovery).catch(() => undefined);
    return recovery;
  }
}

export interface FolderAssetsOptions extends NamingOptions {
  /** The folder of the chat; assets go to `cmdassets/` in it. */
  readonly folder: string;
}

/** Assets on a local disk. It caches what the folder contains, so keep one per folder rather than one per result. */
export class FolderAssets extends NumberedAssets {
  readonly #chatFolder: string;
  #opened: { readonly folder: string; readonly index: FolderIndex } | undefined;
  /** Folders with new files that a power cut could remove. */
  readonly #unsafe = new Set<string>();

  constructor(options: FolderAssetsOptions) {
    super(options);
    this.#chatFolder = options.folder;
  }

  async spillFolder(): Promise<string> {
    return (await this.#open()).folder;
  }

  protected async find(asset: NewAsset): Promise<string | undefined> {
    const { index } = await this.#open();
    // Problems with existing files must not prevent a save.
    return index.find(asset).catch(() => undefined);
  }

  protected async create(name: string, asset: NewAsset): Promise<boolean> {
    const { folder, index } = await this.#open();
    if (!(await this.#write(folder, name, asset))) return false;
    if (asset.isPartial) index.skip(name);
    else await index.add(name, asset).catch(() => undefined);
    return true;
  }

  protected async remove(name: string): Promise<void> {
    const { folder } = await this.#open();
    await unlink(join(folder, name));
  }

  async #write(folder: string, name: string, { bytes, inBatch = false }: NewAsset): Promise<boolean> {
    const path = join(folder, name);
    const isSmall = bytes instanceof Uint8Array && bytes.length <= MAX_SMALL_BYTES;
    if (!inBatch || !isSmall) return createWholeFile(path, bytes);
    this.#unsafe.add(folder);
    return createSmallFile(path, bytes);
  }

  protected override async settle(): Promise<void> {
    const folders = [...this.#unsafe];
    this.#unsafe.clear();
    for (const folder of folders) await syncFolder(folder);
  }

  protected explain(error: unknown): string {
    const reason = writeFailure(error);
    return reason === undefined ? messageOf(error) : `${reason}.`;
  }

  /** Checked before every use, because the folder may have been replaced by a link. */
  async #open(): Promise<{ readonly folder: string; readonly index: FolderIndex }> {
    const folder = makeAssetFolder(this.#chatFolder);
    if (this.#opened?.folder !== folder) {
      this.#opened = { folder, index: new FolderIndex(folder) };
      await sweepLeftovers(folder).catch(() => undefined);
    }
    return this.#opened;
  }
}

/** Removes what a killed run has left beside a chat and among its assets, also if the next run saves nothing. */
export async function sweepChatFolder(chatFolder: string): Promise<void> {
  const assets = join(chatFolder, ASSET_FOLDER);
  await sweepLeftovers(chatFolder).catch(() => undefined);
  // A link could lead anywhere.
  const isFolder = await lstat(assets).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) await sweepLeftovers(assets).catch(() => undefined);
}

/** In memory, and written faster than a thread could be asked to do it. */
const MAX_SMALL_BYTES = 64 * 1024;

/** Creates `cmdassets/` if needed. It must be a real folder: a link could send the files anywhere. */
function makeAssetFolder(chatFolder: string): string {
  const folder = join(realpathSync.native(chatFolder), ASSET_FOLDER);
  if (!lstatSync(folder, { throwIfNoEntry: false })) makeFolder(folder);
  const found = lstatSync(folder);
  if (found.isSymbolicLink()) throw new Error('it is a symbolic link. Put a real folder in its place.');
  if (!found.isDirectory()) throw new Error('it is a file. Put a folder in its place.');
  return folder;
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have been faster.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}
