/**
 * Repeats a choice of tests while another process keeps one core busy, and reports how often each test failed:
 * `npm run test:repeat -- 20 typing serverAsks`. The words choose files of every layer, as in test/run.ts.
 */

import { startProcess } from './host/process.ts';
import { installBrowser } from './host/workbench/browser.ts';
import { serveLanes } from './host/workbench/lanes.ts';
import { installWorkbench } from './host/workbench/workbench.ts';
import { fileLayers, layerFiles } from './runner/layers.ts';
import { runNodeTests } from './runner/nodeTests.ts';

const [count = '', ...words] = process.argv.slice(2);
const repetitions = Number(count);
if (!Number.isInteger(repetitions) || repetitions < 1 || words.length === 0) {
  console.error('Usage: npm run test:repeat -- COUNT WORD…');
  process.exit(2);
}
const files = new Map(fileLayers.map((layer) => [layer, layerFiles(layer, words)]));
if ([...files.values()].flat().length === 0) {
  console.error(`No test file matches ${words.join(', ')}.`);
  process.exit(2);
}

await using cleanup = new AsyncDisposableStack();
const uiFiles = files.get('ui') ?? [];
if (uiFiles.length > 0) {
  await Promise.all([installWorkbench(), installBrowser()]);
  cleanup.use(await serveLanes(Math.min(2, uiFiles.length)));
}
const load = startProcess(process.execPath, ['-e', 'for (;;);']);
cleanup.defer(() => load.stop());

const failures = new Map<string, number>();
let passed = 0;
for (let repetition = 1; repetition <= repetitions; repetition += 1) {
  console.log(`\n── ${repetition} of ${repetitions} ──`);
  for (const chosen of files.values()) {
    if (chosen.length === 0) continue;
    for (const { name, ok } of await runNodeTests(chosen, 2)) {
      if (ok) passed += 1;
      else failures.set(name, (failures.get(name) ?? 0) + 1);
    }
  }
}
console.log();
for (const [name, times] of failures) console.log(`failed ${times} of ${repetitions} times: ${name}`);
const failed = [...failures.values()].reduce((sum, times) => sum + times, 0);
console.log(`repeat: ${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exitCode = 1;
