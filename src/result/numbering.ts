import { ASSET_FOLDER, assetName } from '../base/names.ts';
import type { AssetKind, NewAsset, ResultAssets, ToolResult } from '../ports/results.ts';

/** A result of which everything is known but the names of its files. */
export interface PreparedResult {
  /** At least as many as `save` saves. */
  readonly maxAssets: number;
  save(assets: ResultAssets): Promise<ToolResult>;
}

/** Numbers of one digit are not padded. */
const FIRST_PADDED = 10;

/**
 * Pads the numbers in names to the same width, so that names sort in the order of the blocks. Names are part of texts,
 * so they must be known before anything is saved: the results are first saved to a counter.
 */
export async function padNumbers(
  assets: ResultAssets,
  results: readonly PreparedResult[],
): Promise<ResultAssets> {
  const maxAssets = results.reduce((sum, each) => sum + each.maxAssets, 0);
  if (maxAssets < FIRST_PADDED) return assets;
  const counter = new AssetCounter();
  for (const result of results) await result.save(counter);
  return {
    spillFolder: () => assets.spillFolder(),
    save: (asset) => assets.save({ ...asset, last: counter.countOf(asset.kind) }),
  };
}

/** Counts the assets of each kind and saves nothing. */
class AssetCounter implements ResultAssets {
  readonly #counts = new Map<AssetKind, number>();

  countOf(kind: AssetKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  async spillFolder(): Promise<string> {
    throw new Error('A counter has no folder.');
  }

  async save({ kind, extension }: NewAsset): Promise<{ readonly number: number; readonly path: string }> {
    const number = this.countOf(kind) + 1;
    this.#counts.set(kind, number);
    // As long as a real name, because the length of a text decides whether it becomes a file.
    const name = assetName({ kind, extension, number, time: new Date(0), resultId: '0'.repeat(10) });
    return { number, path: `${ASSET_FOLDER}/${name}` };
  }
}
