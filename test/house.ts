/** `npm run house` prints the size of the code: files, lines, folders, cycles, and the files of each data flow. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCycles, folderSizes, importGraph, readSources, root, waysOfData } from './kit/tree.ts';

for (const top of ['src', 'test']) {
  const lines = globSync(`${top}/**/*.ts`, { cwd: root }).map(
    (file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1,
  );
  const sorted = lines.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)];
  const folders = [...folderSizes(top)].toSorted(([, a], [, b]) => b - a);
  console.log(`${top}/`);
  console.log(`  files    ${sorted.length}`);
  console.log(`  lines    ${sorted.reduce((sum, each) => sum + each, 0)}`);
  console.log(`  file     median ${at(0.5)}, p90 ${at(0.9)}, largest ${at(1)}`);
  console.log(`  folders  ${folders.length}, largest ${folders[0]?.join(' with ')} entries`);
}
console.log(`cycles of imports, types included: ${findCycles(importGraph(readSources())).length}`);
for (const [heading, files] of waysOfData()) console.log(`${heading}: ${files.length} files`);
