import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssetKind, AssetStore, NewAsset, ResultAssets } from '../ports.ts';
import { ASSET_FOLDER, assetName, newResultId } from './names.ts';
import { createWholeFile, hasCode } from './writeFile.ts';

export interface FolderAssetsOptions {
  /** The folder of the chat; assets go to `cmdassets/` in it. */
  readonly folder: string;
  /** What links begin with; a chat that is not saved needs the whole path. */
  readonly linkPrefix?: string;
  readonly now?: () => Date;
  readonly newId?: () => string;
}

/** The files behind the links: numbered, never overwritten, never outside of `cmdassets/`. */
export class FolderAssets implements AssetStore {
  readonly #options: Required<FolderAssetsOptions>;

  constructor(options: FolderAssetsOptions) {
    this.#options = { linkPrefix: ASSET_FOLDER, now: () => new Date(), newId: newResultId, ...options };
  }

  beginResult(): ResultAssets {
    const { newId, now } = this.#options;
    return new FolderResultAssets(this.#options, newId(), now());
  }
}

const MAX_NAME_TRIES = 5;

class FolderResultAssets implements ResultAssets {
  readonly #options: Required<FolderAssetsOptions>;
  readonly #time: Date;
  readonly #counts = new Map<AssetKind, number>();
  #resultId: string;

  constructor(options: Required<FolderAssetsOptions>, resultId: string, time: Date) {
    this.#options = options;
    this.#resultId = resultId;
    this.#time = time;
  }

  async save({
    kind,
    extension,
    bytes,
  }: NewAsset): Promise<{ readonly number: number; readonly path: string }> {
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    try {
      const folder = await ownFolder(this.#options.folder);
      for (let tries = 0; tries < MAX_NAME_TRIES; tries += 1) {
        const name = assetName({ kind, extension, number, time: this.#time, resultId: this.#resultId });
        if (await createWholeFile(join(folder, name), bytes)) {
          return { number, path: `${this.#options.linkPrefix}/${name}` };
        }
        this.#resultId = this.#options.newId();
      }
    } catch (error) {
      throw new Error(`Could not save ${kind} ${number} to ${ASSET_FOLDER}/: ${explain(error)}`, {
        cause: error,
      });
    }
    throw new Error(
      `Could not save ${kind} ${number} to ${ASSET_FOLDER}/: every name that was tried is taken.`,
    );
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

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return REASONS[code] ?? error.message;
}
