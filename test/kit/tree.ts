/** The tree of the product as it is: its files, its imports, its folders, and the ways of the data. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** Paths relative to src/, each with its text. */
export type Sources = Readonly<Record<string, string>>;

export function readSources(): Sources {
  return Object.fromEntries(
    globSync('src/**/*.ts', { cwd: root }).map((file) => [
      file.split(sep).slice(1).join('/'),
      readFileSync(join(root, file), 'utf8'),
    ]),
  );
}

export function* specifiersOf(text: string): Iterable<string> {
  for (const [, specifier = ''] of text.matchAll(/(?:^import|\bfrom|\bimport\()\s*'([^']+)'/gm))
    yield specifier;
}

export function importGraph(files: Sources): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(files).map(([file, text]) => [
      file,
      [...specifiersOf(text)]
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => posix.join(posix.dirname(file), specifier)),
    ]),
  );
}

/** Sets of files that import each other, each in the order of the alphabet. */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map<string, ReadonlySet<string>>();
  for (const file of graph.keys()) {
    const seen = new Set(graph.get(file));
    // The set grows while it is walked.
    for (const next of seen) for (const each of graph.get(next) ?? []) seen.add(each);
    reached.set(file, seen);
  }
  const inCycle = [...graph.keys()].filter((file) => reached.get(file)?.has(file));
  const cycles = inCycle.map((file) =>
    inCycle.filter((other) => reached.get(file)?.has(other) && reached.get(other)?.has(file)).toSorted(),
  );
  return [...new Map(cycles.map((cycle) => [cycle[0], cycle])).values()];
}

/** How many entries each folder below this one has. */
export function folderSizes(folder: string): ReadonlyMap<string, number> {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory());
  return new Map([
    [folder, entries.length],
    ...below.flatMap(({ name }) => [...folderSizes(posix.join(folder, name))]),
  ]);
}

/** The files that each diagram of docs/architecture.md names, by the heading above it. Short names are in the folder before. */
export function waysOfData(): ReadonlyMap<string, readonly string[]> {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const diagrams = page.matchAll(/^## ([^\n]+)\n\n```mermaid\n(.*?)^```/gms);
  return new Map(
    [...diagrams].map(([, heading = '', diagram = '']) => {
      let folder = '';
      const named = [...diagram.matchAll(/[\w/-]+\.ts/g)].map(([name]) => {
        // A name without a folder is in the folder of the name before it, unless it is in src/ itself.
        if (name.includes('/')) folder = posix.dirname(name);
        return name.includes('/') || ROOT_FILES.has(name) ? name : posix.join(folder, name);
      });
      return [heading, [...new Set(named)]];
    }),
  );
}

const ROOT_FILES = new Set(['listener.ts', 'mcpClient.ts', 'extension.ts', 'cli.ts']);
