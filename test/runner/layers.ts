/** Which test files belong to which layer, and which of them run together. */
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Layers whose files run on Node's own test runner. The host suite runs in an extension host instead. */
export type FileLayer = 'unit' | 'conformance' | 'integration' | 'ui';

const layers: Readonly<Record<FileLayer, string>> = {
  unit: 'test/{unit,bench,runner}/**/*.test.ts',
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

/** For a queue, so that no process is left alone with a long file at the end. */
export function longestFirst(files: readonly string[]): string[] {
  return estimate(files)
    .toSorted((a, b) => b.ms - a.ms)
    .map(({ file }) => file);
}

/** Most files are done in less than a second. */
const MS_PER_BYTE = 0.05;

/** Files that take much longer than others of their size, and about how many seconds, where they have not run yet. */
const SLOW: readonly (readonly [file: RegExp, seconds: number])[] = [
  [/faults.(chat|servers)|servers.(everythingHttp|everything|cycles)|node20/, 20],
  [/servers.(negotiation|spillStdio)|converter|partialImages|wires|attack\.|conformance\.|documents/, 12],
  [/spill.filter|models.madeFiles|cli.kills|servers.(remote|oauth|connections)/, 8],
  [/catalog.(contents|tools)|replyTyping|assets.faults|limitTotal|reply.escape|schema.walk|findBase64/, 6],
];

/** As long as it took before. */
function estimate(files: readonly string[]): readonly { readonly file: string; readonly ms: number }[] {
  const durations = readDurations();
  const guess = (file: string) => {
    const [, seconds] = SLOW.find(([pattern]) => pattern.test(file)) ?? [];
    return seconds === undefined ? statSync(join(root, file)).size * MS_PER_BYTE : seconds * 1000;
  };
  return files.map((file) => ({ file, ms: durations[file] ?? guess(file) }));
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
