/**
 * The test command. `npm test` checks, packs and runs every layer. `npm run test:ui -- typing servers` runs the files
 * of one layer whose path contains one of the words.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, sep } from 'node:path';
import { ConcurrencyLimit, deferred } from '../src/base/async.ts';
import { chooseVscode } from './host/desktop.ts';
import { waitFor } from './host/process.ts';
import { timed } from './host/progress.ts';
import { runHostSuite } from './host/runSuite.ts';
import { installBrowser } from './host/workbench/browser.ts';
import { serveLanes } from './host/workbench/lanes.ts';
import { installWorkbench } from './host/workbench/workbench.ts';
import { installNode20 } from './integration/helpers/node20.ts';
import { watchClock } from './kit/clock.ts';
import { keepDurations, layerFiles, longestFirst, root } from './runner/layers.ts';
import { createRunFolder, type RunFolder } from './runner/leftovers.ts';
import { runNodeTests, runQueue, type TestOutcome } from './runner/nodeTests.ts';

type Layer = keyof typeof layers;

/** On an ordinary machine this loop takes 100 to 500 ms, depending on the version of Node. */
const SLOW_MS = 2000;

/** VS Code windows at a time. Each keeps most of a core busy; on a very slow machine, two leave each other no time. */
const windows = spinMs() > SLOW_MS ? 1 : 2;

/** The shortest of three, because another process may disturb one. */
function spinMs(): number {
  const times = [1, 2, 3].map(() => {
    const startedAt = performance.now();
    for (let at = 0, sum = 0; at < 100_000_000; at += 1) sum = (Math.imul(sum, 31) + at) | 0;
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}

/** More than there are cores, because unit tests also wait for the disk, and the others for timers and processes. */
const unitProcesses = 3;
const integrationProcesses = 5;
/** Integration tests that look at their own process, whose memory and open handles must be theirs alone. */
const ALONE = ['servers/cycles.test.ts', 'faults/servers.test.ts'];
const slowestShown = 10;
/** How long processes that have been told to end may take. */
const endTimeoutMs = 10_000;

const layers = {
  unit: (words: readonly string[]) =>
    runQueue(longestFirst(layerFiles('unit', words)), { processes: unitProcesses }),
  conformance: (words: readonly string[]) => runNodeTests(layerFiles('conformance', words), 1),
  integration: (words: readonly string[], more: Promise<unknown>) => {
    const [alone, others] = separate(layerFiles('integration', words), (file) =>
      ALONE.some((alone) => file.replaceAll('\\', '/').endsWith(alone)),
    );
    return runQueue(longestFirst(others), { processes: integrationProcesses, alone, more });
  },
  host: (words: readonly string[]) =>
    onSteadyClock(() => inWindow(() => runHostSuite(join(root, 'dist/filechat.vsix'), words))),
  ui: async (words: readonly string[]) => {
    const files = longestFirst(layerFiles('ui', words));
    const [shared, alone] = separate(files, (file) => file.split(sep).includes('shared'));
    await using _lanes = await serveLanes(Math.min(windows, files.length));
    return await onSteadyClock(() => runQueue(shared, { processes: windows, alone, limit: inWindow }));
  },
} satisfies Record<
  string,
  (words: readonly string[], windowsClosed: Promise<unknown>) => Promise<TestOutcome[]>
>;

/**
 * The conformance suite gives an answer 800 ms, so nothing runs beside it. Windows leave a sixth of both cores to one
 * process of integration tests.
 */
const PHASES: readonly (readonly Layer[])[] = [['unit'], ['conformance'], ['integration', 'host', 'ui']];
const WINDOWED: readonly Layer[] = ['host', 'ui'];

const windowLimit = new ConcurrencyLimit(() => windows);

function inWindow(run: () => Promise<TestOutcome[]>): Promise<TestOutcome[]> {
  return windowLimit.run('window', run);
}

/** A clock that was set back makes tests in VS Code fail for no fault of the product (test/kit/clock.ts). */
async function onSteadyClock(run: () => Promise<TestOutcome[]>): Promise<TestOutcome[]> {
  using clock = watchClock();
  const outcomes = await run();
  const seconds = Math.round(clock.setBackMs / 1000);
  if (seconds === 0 || outcomes.every(({ ok }) => ok)) return outcomes;
  for (const { name } of outcomes.filter(({ ok }) => !ok)) console.log(`✖ ${name}`);
  console.log(`The clock of this machine was set back by ${seconds} s, so these tests run again.`);
  await clock.caughtUp();
  return run();
}

function separate<T>(items: readonly T[], isWanted: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isWanted), items.filter((item) => !isWanted(item))];
}

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const isLayer = (word: string): word is Layer => Object.hasOwn(layers, word);
  const chosen = given.filter(isLayer);
  const words = given.filter((word) => !isLayer(word));
  if (words.length > 0 && chosen.length === 0)
    throw new Error(`Name the layer of ${words.join(', ')}: ${Object.keys(layers).join(', ')}.`);
  const wanted: readonly Layer[] = chosen.length > 0 ? chosen : (Object.keys(layers) as Layer[]);
  // A small test file spends most of its time compiling its imports. All Node processes of the run share this cache.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'dist', '.compiled');
  const installed = timed('Everything is installed', () => install(wanted));
  // Whoever needs it awaits it.
  installed.catch(() => {});
  await timed('Everything is built', () => build(wanted));
  const folder = createRunFolder();
  const results = new Map<Layer, readonly TestOutcome[]>();
  for (const phase of PHASES) {
    const now = phase.filter((layer) => wanted.includes(layer));
    if (now.length === 0) continue;
    // Only units may run beside an installation: they measure no time.
    if (!now.includes('unit')) await installed;
    console.log(`\n── ${now.join(', ')} ──`);
    await timed(`${now.join(', ')} done`, () => runPhase(now, words, results));
  }
  const leftovers = await findLeftovers(folder);
  folder.dispose();
  keepDurations([...results.values()].flat());
  report(results, leftovers);
}

async function runPhase(
  phase: readonly Layer[],
  words: readonly string[],
  results: Map<Layer, readonly TestOutcome[]>,
): Promise<void> {
  const { promise: windowsClosed, resolve: more } = deferred<void>();
  const run = async (layer: Layer) => results.set(layer, await layers[layer](words, windowsClosed));
  const [windowed, others] = separate(phase, (layer) => WINDOWED.includes(layer));
  await Promise.all([Promise.all(windowed.map(run)).finally(more), ...others.map(run)]);
}

/** Checks and packs before the first test. Units look only at what is built, not at the package. */
async function build(wanted: readonly Layer[]): Promise<void> {
  const isWhole = wanted.length === Object.keys(layers).length;
  const needsPackage = wanted.some((layer) => layer !== 'unit');
  await Promise.all([...(isWhole ? [npm('check')] : []), npm(needsPackage ? 'package' : 'build')]);
}

async function install(wanted: readonly Layer[]): Promise<void> {
  const needsWorkbench =
    wanted.includes('ui') || (wanted.includes('host') && (await chooseVscode()).kind === 'workbench');
  await Promise.all([
    ...(needsWorkbench ? [installWorkbench(), installBrowser()] : []),
    ...(wanted.includes('integration') ? [installNode20()] : []),
  ]);
}

async function npm(script: string): Promise<void> {
  const child = spawn('npm', ['run', '--silent', script], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  const [code] = await once(child, 'close');
  if (code === 0) return;
  console.error(`npm run ${script} failed.`);
  process.exit(1);
}

async function findLeftovers(folder: RunFolder): Promise<readonly string[]> {
  try {
    await waitFor(
      'the last processes',
      endTimeoutMs,
      async () => folder.findLeftovers().length === 0 || undefined,
    );
  } catch {
    // They are named below.
  }
  return folder.findLeftovers();
}

/** A layer without any test counts as failed, so that an empty run is never taken for success. */
function report(results: ReadonlyMap<Layer, readonly TestOutcome[]>, leftovers: readonly string[]): void {
  const all = [...results.values()].flat();
  console.log('\nThe slowest tests:');
  for (const { name, ms } of all.toSorted((a, b) => b.ms - a.ms).slice(0, slowestShown))
    console.log(`  ${(ms / 1000).toFixed(1)} s  ${name}`);
  for (const { name } of all.filter(({ ok }) => !ok)) console.log(`✖ ${name}`);
  for (const line of leftovers) console.log(`✖ left behind: ${line}`);
  const count = (outcomes: readonly TestOutcome[]) => {
    const passed = outcomes.filter(({ ok }) => ok).length;
    return `${passed} passed, ${outcomes.length - passed} failed`;
  };
  console.log();
  for (const [layer, outcomes] of results) console.log(`${layer}: ${count(outcomes)}`);
  console.log(`all: ${count(all)}`);
  const isEmpty = [...results.values()].some((outcomes) => outcomes.length === 0);
  if (isEmpty || leftovers.length > 0 || all.some(({ ok }) => !ok)) process.exitCode = 1;
}

await main();
