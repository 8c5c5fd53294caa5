/** Runs test files on Node's test runner, prints them, and resolves to what became of each test. */
import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { root } from './layers.ts';

export interface TestOutcome {
  readonly name: string;
  /** Relative to the repository. Tests that a helper registers have none. */
  readonly file?: string;
  readonly ok: boolean;
  readonly ms: number;
}

/** Runs every share of files in a process of its own, some of them at a time. */
export async function runShares(
  shares: readonly (readonly string[])[],
  atOnce = 2,
  run = runShare,
): Promise<TestOutcome[]> {
  const waiting = [...shares];
  const outcomes: TestOutcome[] = [];
  const work = async () => {
    for (let share = waiting.shift(); share; share = waiting.shift()) outcomes.push(...(await run(share)));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

/** Runs files in one process. */
export function runShare(share: readonly string[]): Promise<TestOutcome[]> {
  return runNodeTests(['test/runner/together.ts'], 1, share);
}

/** Every file gets a process of its own, and the same arguments. */
export async function runNodeTests(
  files: readonly string[],
  concurrency: number,
  argv: readonly string[] = [],
): Promise<TestOutcome[]> {
  // Without files Node would look for some itself.
  if (files.length === 0) return [];
  const outcomes: TestOutcome[] = [];
  const events = run({ cwd: root, files: [...files], concurrency, argv });
  const add = (
    test: {
      name: string;
      file?: string;
      skip?: unknown;
      todo?: unknown;
      details: { type?: string; duration_ms: number };
    },
    ok: boolean,
  ) => {
    const isSkipped = test.skip !== undefined || test.todo !== undefined;
    if (test.details.type === 'suite' || (ok && isSkipped)) return;
    const ms = test.details.duration_ms;
    // Tests that a helper registers have the helper's file.
    const file = test.file?.endsWith('.test.ts') ? relative(root, test.file) : undefined;
    if (file === undefined) outcomes.push({ name: test.name, ok, ms });
    else outcomes.push({ name: `${file}: ${test.name}`, file, ok, ms });
  };
  events.on('test:pass', (test) => add(test, true));
  events.on('test:fail', (test) => add(test, false));
  const output = events.compose(spec);
  output.pipe(process.stdout, { end: false });
  await new Promise((resolve, reject) => output.once('end', resolve).once('error', reject));
  return outcomes;
}
