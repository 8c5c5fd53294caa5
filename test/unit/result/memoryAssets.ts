import assert from 'node:assert/strict';
import type { NewAsset, ResultAssets } from '../../../src/ports/results.ts';

/** Keeps assets in memory; saving the kinds in `fail` fails. */
export class MemoryAssets implements ResultAssets {
  readonly saved: NewAsset[] = [];
  readonly #fail: readonly string[];

  constructor(...fail: string[]) {
    this.#fail = fail;
  }

  spillFolder(): Promise<string> {
    return Promise.reject(new Error('nothing is spilled here'));
  }

  bytes(at: number): Uint8Array {
    const bytes = this.saved[at]?.bytes;
    return bytes instanceof Uint8Array ? bytes : assert.fail('The bytes are not in memory.');
  }

  async save(asset: NewAsset) {
    if (this.#fail.includes(asset.kind))
      throw new Error(`Could not save the ${asset.kind}: the disk is full.`);
    this.saved.push(asset);
    const number = this.saved.filter(({ kind }) => kind === asset.kind).length;
    return { number, path: `cmdassets/tool-${asset.kind}-${number}.${asset.extension}` };
  }
}
