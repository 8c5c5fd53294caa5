/**
 * The whole test command: checks, packs, and runs every kind of test. `node test/run.ts units host` runs only
 * some kinds, and `node test/run.ts ui typing servers` only the files of a kind whose path holds one of these words.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { runHostSuite } from './host/runSuite.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const root = join(import.meta.dirname, '..');
/** Whatever talks to another process. */
const INTEGRATION = [
  'test/integration/**/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/mcp/connections.test.ts',
  'test/mcp/remote.test.ts',
  'test/mcp/spill{Stdio,Http}.test.ts',
  'test/samples/s{erver,low}.test.ts',
];
const UI = ['test/host/ui/**/*.test.ts'];

const stages: Readonly<Record<string, (words: readonly string[]) => Promise<Counts>>> = {
  units: (words) =>
    runNodeTests(chosen(words, ['test/**/*.test.ts'], [...INTEGRATION, 'test/host/**']), { concurrency: 2 }),
  integration: (words) => runNodeTests(chosen(words, INTEGRATION), { concurrency: 3 }),
  host: () => runHostSuite({ vsix: join(root, 'dist/filechat.vsix') }),
  // One browser and one editor at a time: two of them save two minutes of nine on two processors, and now and then a key
  // reaches an editor that is not ready for it.
  ui: (words) => runNodeTests(chosen(words, UI), { concurrency: 1 }),
};

/** The host mostly waits for itself, so other tests can run beside it; they wait for processes. */
const TOGETHER = [['units'], ['integration', 'host'], ['ui']];

/** The files of these patterns that hold one of the words, or all where there are no words. */
function chosen(
  words: readonly string[],
  patterns: readonly string[],
  excluded: readonly string[] = [],
): readonly string[] {
  const find = (pattern: string) => globSync(pattern, { cwd: root });
  const left = new Set(excluded.flatMap(find));
  const wanted = (file: string) => words.length === 0 || words.some((word) => file.includes(word));
  return patterns
    .flatMap(find)
    .filter((file) => !left.has(file) && wanted(file))
    .sort();
}

async function runNodeTests(
  files: readonly string[],
  { concurrency }: { concurrency: number },
): Promise<Counts> {
  const counts = { passed: 0, failed: 0 };
  const events = run({ cwd: root, files: [...files], concurrency });
  events.on('test:pass', ({ details, skip, todo }) => {
    if (details.type !== 'suite' && skip === undefined && todo === undefined) counts.passed += 1;
  });
  events.on('test:fail', ({ details, todo }) => {
    if (details.type !== 'suite' && todo === undefined) counts.failed += 1;
  });
  const output = events.compose(spec);
  output.pipe(process.stdout, { end: false });
  await new Promise((resolve, reject) => output.once('end', resolve).once('error', reject));
  return counts;
}

function npm(script: string): void {
  const { status } = spawnSync('npm', ['run', '--silent', script], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(`npm run ${script} failed.`);
    process.exit(1);
  }
}

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const isStage = (word: string) => Object.hasOwn(stages, word);
  const wanted = given.filter(isStage);
  const words = given.filter((word) => !isStage(word));
  if (words.length > 0 && wanted.length === 0)
    throw new Error(
      `Say which kind of tests ${words.join(', ')} is about: ${Object.keys(stages).join(', ')}.`,
    );
  // Most of what a small file costs is to compile what it imports. Every Node that a test starts shares this.
  process.env['NODE_COMPILE_CACHE'] ??= join(root, 'dist', '.compiled');
  npm('check');
  npm('package');
  const results = new Map<string, Counts>();
  for (const names of TOGETHER) {
    const stagesNow = names.filter((name) => wanted.length === 0 || wanted.includes(name));
    if (stagesNow.length === 0) continue;
    console.log(`\n── ${stagesNow.join(' and ')} (${relative(process.cwd(), join(root, 'test')) || '.'}) ──`);
    await Promise.all(
      stagesNow.map(async (name) => {
        const counts = await stages[name]?.(words);
        if (counts) results.set(name, counts);
      }),
    );
  }
  report(results);
}

/** A kind of test that ran none is a failure: nobody should take silence for success. */
function report(results: ReadonlyMap<string, Counts>): void {
  console.log();
  for (const [name, { passed, failed }] of results)
    console.log(`${name}: ${passed} passed, ${failed} failed`);
  const all = [...results.values()];
  const sum = (of: (counts: Counts) => number) => all.reduce((total, counts) => total + of(counts), 0);
  console.log(`all: ${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`);
  if (all.some(({ passed, failed }) => failed > 0 || passed === 0)) process.exitCode = 1;
}

await main();
