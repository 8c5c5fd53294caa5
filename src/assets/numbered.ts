import type { AssetBytes, AssetKind, NewAsset, ResultAssets } from '../ports.ts';
import { ASSET_FOLDER, assetName } from './names.ts';

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
