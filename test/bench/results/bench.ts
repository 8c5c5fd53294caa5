/** Large and numerous results, from the request to the files, by four clients in turn. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchOutcome, inTemporaryFolder, median } from '../frame.ts';
import type { Options } from '../options.ts';
import { hashItems, prepareLoad } from './payload.ts';
import { describeOutcome, renderReport } from './report.ts';
import {
  type Cell,
  type ClientName,
  LIMIT_MS,
  type Load,
  type Measurement,
  nameLoad,
  type Outcome,
  type Report,
  type Target,
  type Task,
  WARM_UP,
  type Way,
} from './types.ts';

interface Bench {
  readonly options: Options;
  /** For payloads and the folders of trials. */
  readonly folder: string;
  readonly targets: Readonly<Record<Way, Target>>;
  readonly signal: AbortSignal;
}

/** Each trial is followed by those of the other clients, so that a passing load does not affect only one. */
const TRIALS = 3;
/** A trial that takes longer is not repeated: noise is small in comparison. */
const LONG_MS = 15_000;
const CONNECT_MS = 30_000;
const CLOSE_MS = 5_000;
export const STOPPED = new Error('Stopped.');
const SERVER = join(import.meta.dirname, 'server.ts');

/** With `from`, reports earlier results, conditions included. */
export async function benchResults(
  options: Options,
): Promise<BenchOutcome & { readonly figures: { readonly cells: readonly Cell[] } }> {
  const { from } = options;
  const figures: { readonly cells: readonly Cell[] } =
    from === undefined
      ? { cells: await inTemporaryFolder((folder) => measureAll(options, folder)) }
      : JSON.parse(await readFile(from, 'utf8'));
  const passed = figures.cells.every(({ outcome }) => outcome.kind !== 'wrong');
  return { figures, report: renderReport(figures.cells), passed };
}

async function measureAll(options: Options, folder: string): Promise<readonly Cell[]> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(STOPPED);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  const server = spawn(process.execPath, [SERVER, 'http', folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const targets = await findTargets(server, folder);
    return await measureCells({ options, folder, targets, signal: stop.signal });
  } finally {
    server.kill();
  }
}

async function findTargets(server: ChildProcess, folder: string): Promise<Record<Way, Target>> {
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('The HTTP server did not start.')));
  ended.catch(() => {});
  const [line] = await Promise.race([once(server.stdout ?? server, 'data'), ended]);
  const url = `http://127.0.0.1:${String(line).trim()}`;
  return {
    stdio: { kind: 'stdio', command: process.execPath, args: [SERVER, 'stdio', folder] },
    json: { kind: 'http', url: `${url}/json` },
    sse: { kind: 'http', url: `${url}/sse` },
  };
}

async function measureCells(bench: Bench): Promise<Cell[]> {
  const cells: Cell[] = [];
  await prepareLoad(bench.folder, WARM_UP);
  for (const load of bench.options.loads) {
    const sha256 = await prepareLoad(bench.folder, load);
    for (const way of bench.options.ways) {
      const slow = cells.filter((cell) => cell.way === way && isHopeless(cell)).map(({ client }) => client);
      cells.push(...(await measureRow(bench, { load, way, sha256, slow })));
    }
  }
  return cells;
}

/** A larger image takes an SDK's client even longer. Filechat is always measured. */
function isHopeless({ client, load, outcome }: Cell): boolean {
  const gaveUp = outcome.kind === 'tooSlow' || outcome.kind === 'skipped';
  return gaveUp && load.kind === 'image' && (client === 'sdk1' || client === 'sdk2');
}

interface Row {
  readonly load: Load;
  readonly way: Way;
  readonly sha256: string;
  readonly slow: readonly ClientName[];
}

async function measureRow(bench: Bench, { load, way, sha256, slow }: Row): Promise<Cell[]> {
  const { options, folder, targets, signal } = bench;
  const trials = new Map<ClientName, Outcome[]>(options.clients.map((client) => [client, []]));
  for (let round = 0; round < TRIALS; round++) {
    for (const [client, outcomes] of trials) {
      const skip = load.kind === 'image' && slow.includes(client);
      if (skip || !outcomes.every(isWorthRepeating)) continue;
      outcomes.push(await runTrial({ client, target: targets[way], load, sha256, scratch: folder, signal }));
    }
  }
  return [...trials].map(([client, outcomes]) => {
    const outcome = combine(outcomes);
    console.error(`${way}, ${nameLoad(load)}, ${client}: ${describeOutcome(outcome)}`);
    return { way, load, client, outcome };
  });
}

function isWorthRepeating(outcome: Outcome): boolean {
  return outcome.kind === 'measured' && outcome.ms < LONG_MS;
}

interface Trial {
  readonly client: ClientName;
  readonly target: Target;
  readonly load: Load;
  readonly sha256: string;
  /** The parent of the trial's folder. */
  readonly scratch: string;
  readonly signal: AbortSignal;
}

/** Runs one client once, in its own process, and checks the files that it has written. */
async function runTrial({ client, target, load, sha256, scratch, signal }: Trial): Promise<Outcome> {
  const root = await mkdtemp(join(scratch, `${client}-`));
  try {
    const [folder, warmUpFolder] = [join(root, 'files'), join(root, 'warmUp')];
    await Promise.all([mkdir(folder), mkdir(warmUpFolder)]);
    const report = await runClient({ client, target, load, folder, warmUpFolder }, signal);
    if (report.kind !== 'done') return report;
    if ((await hashItems(report.items)) !== sha256)
      return { kind: 'wrong', reason: 'the saved bytes differ from those that were sent' };
    return { kind: 'measured', runs: 1, ...report.measurement };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The median time of several trials, and the worst memory and delay, because those have limits. */
function combine(outcomes: readonly Outcome[]): Outcome {
  const bad = outcomes.find(({ kind }) => kind !== 'measured');
  const measured = outcomes.filter((outcome) => outcome.kind === 'measured');
  if (bad !== undefined || measured.length === 0) return bad ?? { kind: 'skipped' };
  const durable = measured.flatMap(({ durableMs }) => durableMs ?? []);
  const worst = (of: (measurement: Measurement) => number) => Math.max(...measured.map(of));
  return {
    kind: 'measured',
    runs: measured.length,
    ms: median(measured.map(({ ms }) => ms)),
    ...(durable.length === 0 ? {} : { durableMs: median(durable) }),
    rssBytes: worst(({ rssBytes }) => rssBytes),
    loopDelayMs: worst(({ loopDelayMs }) => loopDelayMs),
  };
}

type ClientEnd = Extract<Report, { kind: 'done' | 'failed' }> | { readonly kind: 'tooSlow' };

async function runClient(task: Task, signal: AbortSignal): Promise<ClientEnd> {
  signal.throwIfAborted();
  const child = fork(join(import.meta.dirname, 'measure.ts'), [JSON.stringify(task)], { execArgv: [] });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    const end = await awaitReport(child);
    const closing = setTimeout(kill, end.kind === 'tooSlow' ? 0 : CLOSE_MS);
    await gone;
    clearTimeout(closing);
    signal.throwIfAborted();
    return end;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

function awaitReport(child: ChildProcess): Promise<ClientEnd> {
  return new Promise((resolve) => {
    const fail = (reason: string) => resolve({ kind: 'failed', reason });
    let timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail('it could not connect');
    }, CONNECT_MS);
    child.on('message', (report: Report) => {
      clearTimeout(timer);
      if (report.kind === 'started') timer = setTimeout(() => resolve({ kind: 'tooSlow' }), LIMIT_MS);
      else resolve(report);
    });
    child.once('error', (error) => fail(error.message));
    // Not `exit`, which may precede the last message.
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      fail(`its process ended (${killedBy ?? code})`);
    });
  });
}
