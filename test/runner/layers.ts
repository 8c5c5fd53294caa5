/** Which test files belong to which layer. */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Layers whose files run on Node's own test runner. The host suite runs in an extension host instead. */
export type FileLayer = 'unit' | 'conformance' | 'integration' | 'ui';

const layers: Readonly<Record<FileLayer, string>> = {
  unit: 'test/{unit,bench}/**/*.test.ts',
  conformance: 'test/conformance/**/*.test.ts',
  integration: 'test/integration/**/*.test.ts',
  ui: 'test/host/ui/**/*.test.ts',
};

export const fileLayers = Object.keys(layers) as FileLayer[];

/** The files of a layer whose path contains one of the words; all of them without words. */
export function layerFiles(layer: FileLayer, words: readonly string[] = []): string[] {
  const isWanted = (file: string) => words.length === 0 || words.some((word) => file.includes(word));
  return globSync(layers[layer], { cwd: root }).filter(isWanted).sort();
}

/** Divides files into so many shares, or fewer, of about the same size in characters; without a number, into one each. */
export function divide(files: readonly string[], count = files.length): string[][] {
  const sized = files.map((file) => ({ file, size: statSync(join(root, file)).size }));
  const shares = Array.from({ length: count }, () => ({ files: [] as string[], size: 0 }));
  // The largest files first, so that a share of one large file is also the first to run.
  for (const { file, size } of sized.toSorted((a, b) => b.size - a.size)) {
    const smallest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    smallest.files.push(file);
    smallest.size += size;
  }
  return shares.map((share) => share.files.sort()).filter(({ length }) => length > 0);
}
