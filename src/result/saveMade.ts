import { defined } from '../base/json.ts';
import type { MadeFile } from '../ports/models.ts';
import type { AssetPart, ProblemPart, ResultAssets } from '../ports/results.ts';
import { nameBeside } from './blocks.ts';
import { ByteSaver, type SaveLimits, type SpilledFiles } from './saveBytes.ts';

/** Saves a file that a model made, by the rules for the files of tools. Rejects only when the signal is aborted. */
export async function saveMade(
  { block, read }: MadeFile,
  assets: ResultAssets,
  { limits, signal }: { readonly limits: SaveLimits; readonly signal?: AbortSignal | undefined },
): Promise<AssetPart | ProblemPart> {
  const made = await read(limits.maxAssetBytes, signal);
  const name = nameBeside(made);
  const what = name === undefined ? block : `${block} ${name}`;
  const found =
    made.kind === 'bytes'
      ? { kind: made.kind, bytes: made.bytes, ...defined({ declared: made.declared, name }) }
      : made;
  const { part } = await new ByteSaver(assets, NO_SPILLS, limits).save(found, { what, block });
  return part.kind === 'asset' ? { ...part, asset: { ...part.asset, maker: 'model' } } : part;
}

/** The bytes are in memory. */
const NO_SPILLS: SpilledFiles = {
  holds: async () => false,
  tail: async () => new Uint8Array(),
  read: async () => new Uint8Array(),
};
