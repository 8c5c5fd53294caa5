/** Which test files belong to which layer, and which of them run together. */
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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

/** Divides files into so many shares, or fewer, that take about the same time; without a number, into one each. */
export function divide(files: readonly string[], count = files.length): string[][] {
  const shares = Array.from({ length: count }, () => ({ files: [] as string[], ms: 0 }));
  // The longest files first, so that a share of one long file is also the first to run.
  for (const { file, ms } of estimate(files).toSorted((a, b) => b.ms - a.ms)) {
    const shortest = shares.reduce((least, share) => (share.ms < least.ms ? share : least));
    shortest.files.push(file);
    shortest.ms += ms;
  }
  return shares.map((share) => share.files.sort()).filter(({ length }) => length > 0);
}

/** As long as it took before. A file that has not run yet takes as long as others of its size. */
function estimate(files: readonly string[]): readonly { readonly file: string; readonly ms: number }[] {
  const durations = readDurations();
  const sized = files.map((file) => ({ file, size: statSync(join(root, file)).size, ms: durations[file] }));
  const known = sized.filter(({ ms }) => ms !== undefined);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const msPerByte =
    known.length === 0 ? 1 : sum(known.map(({ ms = 0 }) => ms)) / sum(known.map(({ size }) => size));
  return sized.map(({ file, size, ms }) => ({ file, ms: ms ?? size * msPerByte }));
}

/** How long each file took when it last ran, by its path. */
const DURATIONS = join(root, 'dist', '.durations.json');

function readDurations(): Readonly<Record<string, number>> {
  return existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, 'utf8')) : {};
}

/** For the next run, in which files are divided by them. */
export function keepDurations(tests: readonly { readonly file?: string; readonly ms: number }[]): void {
  const took: Record<string, number> = {};
  for (const { file, ms } of tests) {
    if (file !== undefined) took[file] = (took[file] ?? 0) + Math.round(ms);
  }
  writeFileSync(DURATIONS, JSON.stringify({ ...readDurations(), ...took }, undefined, 1));
}
