import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hashItems } from './payload.ts';
import {
  type ClientName,
  LIMIT_MS,
  type Load,
  type Measurement,
  type Outcome,
  type Report,
  type Target,
  type Task,
} from './types.ts';

export interface Trial {
  readonly client: ClientName;
  readonly target: Target;
  readonly load: Load;
  readonly sha256: string;
  /** Where the trial may make a folder of its own. */
  readonly scratch: string;
  readonly signal: AbortSignal;
}

/** Runs one client once, in a process of its own, and checks what it has written. Leaves nothing behind. */
export async function runTrial({ client, target, load, sha256, scratch, signal }: Trial): Promise<Outcome> {
  const root = await mkdtemp(join(scratch, `${client}-`));
  try {
    const [folder, warmUpFolder] = [join(root, 'files'), join(root, 'warmUp')];
    await Promise.all([mkdir(folder), mkdir(warmUpFolder)]);
    const report = await runClient({ client, target, load, folder, warmUpFolder }, signal);
    if (report.kind !== 'done') return report;
    if ((await hashItems(report.items)) !== sha256)
      return { kind: 'wrong', reason: 'what was kept is not what was sent' };
    return { kind: 'measured', runs: 1, ...report.measurement };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Of several trials of one cell. The time is the middle one; memory and delay are the worst, since both have bars. */
export function combine(outcomes: readonly Outcome[]): Outcome {
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

const CONNECT_MS = 30_000;
const CLOSE_MS = 5_000;

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
    // Not `exit`, which can come before the last message.
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      fail(`its process ended (${killedBy ?? code})`);
    });
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
