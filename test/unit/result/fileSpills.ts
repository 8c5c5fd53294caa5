import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewAsset, Spill, SpilledBytes, Spills } from '../../../src/ports/results.ts';
import { joined } from '../../../src/result/textWindows.ts';
import { MemoryAssets } from './memoryAssets.ts';

export function piecesOf(text: string): () => AsyncGenerator<string> {
  return async function* () {
    yield text;
  };
}

/** Strings that were decoded to files while they arrived. */
export class FileSpills implements Spills {
  readonly #spills = new Map<string, Spill>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(
    bytes: Uint8Array,
    more: { mimeType?: string; pieces?: () => AsyncIterable<string>; textHash?: string } = {},
  ) {
    const path = join(this.#folder, `spill-${Math.random()}`);
    await writeFile(path, bytes);
    return this.add({ kind: 'bytes', path, size: bytes.length, head: bytes.subarray(0, 4096), ...more });
  }

  add(spill: Spill): string {
    const placeholder = `filechat-spill:${'0123456789abcdef'.repeat(2)}:${this.#spills.size}`;
    this.#spills.set(placeholder, spill);
    return placeholder;
  }

  find(text: string) {
    return this.#spills.get(text);
  }

  async write(text: AsyncIterable<string>): Promise<SpilledBytes> {
    const bytes = Buffer.from(await joined(text));
    const path = join(this.#folder, `spill-${Math.random()}`);
    await writeFile(path, bytes);
    return { path, size: bytes.length, head: bytes.subarray(0, 4096) };
  }

  dispose() {
    return Promise.resolve();
  }
}

/** Moves files away, as the real store does. */
export class MovingAssets extends MemoryAssets {
  override async save(asset: NewAsset) {
    if (!(asset.bytes instanceof Uint8Array)) await rename(asset.bytes.path, `${asset.bytes.path}.saved`);
    return super.save(asset);
  }
}
