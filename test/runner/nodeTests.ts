/** Runs test files on Node's test runner, prints them, and resolves to what became of each test. */
import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { root } from './layers.ts';
import { createQueue } from './queue.ts';

export interface TestOutcome {
  readonly name: string;
  /** Relative to the repository. */
  readonly file?: string;
  readonly ok: boolean;
  readonly ms: number;
}

export interface QueueOptions {
  /** How many processes run at a time. */
  readonly processes: number;
  /** Files that have a process of their own. They are first. */
  readonly alone?: readonly string[];
  /** Until then, one process runs. */
  readonly more?: Promise<unknown>;
  /** Around each process. */
  readonly limit?: (run: () => Promise<TestOutcome[]>) => Promise<TestOutcome[]>;
}

/** Runs files in several processes, each of which takes the next file when it has run one. */
export async function runQueue(
  files: readonly string[],
  { processes, alone = [], more, limit = (run) => run() }: QueueOptions,
): Promise<TestOutcome[]> {
  using queue = createQueue(files);
  const workers = Array.from(
    { length: Math.min(processes, files.length) },
    () => () => runNodeTests(['test/runner/queue.ts'], 1, queue.argv),
  );
  const work = [...alone.map((file) => () => runNodeTests([file], 1)), ...workers].values();
  const outcomes: TestOutcome[] = [];
  const runInTurn = async (place: number) => {
    if (place > 0) await more;
    for (const run of work) outcomes.push(...(await limit(run)));
  };
  await Promise.all(Array.from({ length: processes }, (_, place) => runInTurn(place)));
  return outcomes;
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
      details: { type?: string; duration_ms: number; error?: Error };
    },
    ok: boolean,
  ) => {
    const isSkipped = test.skip !== undefined || test.todo !== undefined;
    // A suite also fails because of its tests, or because its file cannot be loaded or a hook fails.
    const { failureType } = (test.details.error ?? {}) as { readonly failureType?: string };
    const isCounted = ok || failureType === 'subtestsFailed';
    // A file that passes is a process that had nothing to run.
    const isFile = files.includes(test.name);
    if ((test.details.type === 'suite' && isCounted) || (ok && (isSkipped || isFile))) return;
    const ms = test.details.duration_ms;
    const file = test.file?.endsWith('.test.ts') ? relative(root, test.file) : fileOfQueue;
    if (file === undefined) outcomes.push({ name: test.name, ok, ms });
    else outcomes.push({ name: `${file}: ${test.name}`, file, ok, ms });
  };
  // Tests that a helper registers have the helper's file, but they follow the start of their own (queue.ts).
  let fileOfQueue: string | undefined;
  events.on('test:start', ({ name }) => {
    if (name.endsWith('.test.ts')) fileOfQueue = name;
  });
  events.on('test:pass', (test) => add(test, true));
  events.on('test:fail', (test) => add(test, false));
  const output = events.compose(spec);
  output.pipe(process.stdout, { end: false });
  await new Promise((resolve, reject) => output.once('end', resolve).once('error', reject));
  return outcomes;
}
