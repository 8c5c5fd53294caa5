import { describeSize, LARGE_FILE_BYTES } from '../base/size.ts';
import { sizeOf } from '../media/sniff.ts';
import type { AssetStore, ResultAssets } from '../ports/results.ts';

/**
 * Runs work that saves the files of one result, and reports the large ones once, after it:
 * `cmdassets/a.png (12.6 MB), cmdassets/b.zip (10.5 MB)`.
 */
export async function reportingLargeFiles<T>(
  store: AssetStore,
  report: (files: string) => void,
  work: (assets: ResultAssets) => Promise<T>,
): Promise<T> {
  const assets = store.beginResult();
  const large: string[] = [];
  const save: ResultAssets['save'] = async (asset) => {
    const size = sizeOf(asset.bytes);
    const saved = await assets.save(asset);
    if (size >= LARGE_FILE_BYTES) large.push(`${saved.path} (${describeSize(size)})`);
    return saved;
  };
  try {
    return await work({
      spillFolder: (failure) => assets.spillFolder(failure),
      settle: async () => assets.settle?.(),
      save,
    });
  } finally {
    if (large.length > 0) report(large.join(', '));
  }
}
