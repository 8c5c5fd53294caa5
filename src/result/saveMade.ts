import { defined } from '../base/json.ts';
import type { MadeFile } from '../ports/models.ts';
import type { AssetPart, ProblemPart, ResultAssets } from '../ports/results.ts';
import { nameBeside } from './blocks.ts';
import { ByteSaver, type SaveLimits } from './saveBytes.ts';

/** Saves the files that a model makes in one reply, by the rules for the files of one result. */
export class MadeFileSaver {
  readonly #limits: SaveLimits;
  readonly #bytes: ByteSaver;

  constructor(assets: ResultAssets, limits: SaveLimits) {
    this.#limits = limits;
    this.#bytes = new ByteSaver(assets, NO_SPILLS, limits);
  }

  /** Rejects only when the signal is aborted. */
  async save({ block, read }: MadeFile, signal?: AbortSignal): Promise<AssetPart | ProblemPart> {
    const made = await read(this.#limits.maxAssetBytes, signal);
    const name = nameBeside(made);
    const what = name === undefined ? block : `${block} ${name}`;
    const found =
      made.kind === 'bytes'
        ? { kind: made.kind, bytes: made.bytes, ...defined({ declared: made.declared, name }) }
        : made;
    const { part } = await this.#bytes.save(found, { what, block });
    return part.kind === 'asset' ? { ...part, asset: { ...part.asset, maker: 'model' } } : part;
  }
}

/** All bytes are in memory. */
export const NO_SPILLS = {
  holds: async () => false,
  tail: async () => new Uint8Array(),
  read: async () => new Uint8Array(),
};
