/** Images of 10 MB through the content helpers: how long it takes, relative to the bare work in the same rounds. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  alignColumns,
  type BenchOutcome,
  inTemporaryFolder,
  measureMs,
  median,
  showMs,
  showVerdict,
} from '../frame.ts';
import { CONTENT_TASKS, type ContentTask, loadForms, noisyPng } from './contentTasks.ts';

const IMAGE_BYTES = 10 * 1024 * 1024;
const SMALL_BYTES = 1_000;
const ROUNDS = 21;
const MEMORY = join(import.meta.dirname, 'contentMemory.ts');
const MAX_MS = 500;

/** One helper with one form of the image. */
export interface ContentRow {
  readonly what: string;
  /** Of the fastest round: load on the machine can only slow a round down. */
  readonly oursMs: number;
  readonly plainMs: number;
  /** The work that `plainMs` is the time of. */
  readonly against: string;
  readonly medianMs: number;
  /** The peak above the memory with the image loaded. */
  readonly oursPeakBytes: number;
  readonly plainPeakBytes: number;
}

export async function benchContent(): Promise<BenchOutcome> {
  const rows = await inTemporaryFolder(measureRows);
  return { figures: { imageBytes: IMAGE_BYTES, rows }, ...judgeContent(rows) };
}

export function judgeContent(rows: readonly ContentRow[]): Pick<BenchOutcome, 'report' | 'passed'> {
  const isFast = ({ medianMs }: ContentRow) => medianMs < MAX_MS;
  const head = [
    `An image of ${showMb(IMAGE_BYTES)}`,
    'Filechat',
    'against',
    '',
    'ratio',
    'peak',
    'against',
    'median',
    `< ${MAX_MS} ms`,
  ];
  const table = rows.map((row) => [
    row.what,
    `${showMs(row.oursMs)} ms`,
    `${showMs(row.plainMs)} ms`,
    row.against,
    `${(row.oursMs / row.plainMs).toFixed(2)}×`,
    showMb(row.oursPeakBytes),
    showMb(row.plainPeakBytes),
    `${showMs(row.medianMs)} ms`,
    showVerdict(isFast(row)),
  ]);
  return { report: alignColumns([head, ...table]), passed: rows.length > 0 && rows.every(isFast) };
}

function showMb(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}

async function measureRows(folder: string): Promise<readonly ContentRow[]> {
  const [small, large] = [join(folder, 'small.png'), join(folder, 'large.png')];
  await writeFile(small, noisyPng(SMALL_BYTES));
  await writeFile(large, noisyPng(IMAGE_BYTES));
  const rows: ContentRow[] = [];
  for (const [number, task] of CONTENT_TASKS.entries()) {
    console.error(`content: ${task.what}`);
    const { what, against } = task;
    const times = await measureTimes(task, large);
    const oursPeakBytes = await measurePeak([`${number}`, 'ours', small, large]);
    const plainPeakBytes = await measurePeak([`${number}`, 'plain', small, large]);
    rows.push({ what, against, ...times, oursPeakBytes, plainPeakBytes });
  }
  return rows;
}

/** In turns, so that a passing load does not affect only one of the two. */
async function measureTimes({ form, ours, plain }: ContentTask, path: string) {
  const forms = await loadForms(path, form);
  const works = [
    { work: ours, times: [] as number[] },
    { work: plain, times: [] as number[] },
  ] as const;
  for (let round = -2; round < ROUNDS; round += 1) {
    // Each is first in every other round: the second may have to collect the garbage of the first.
    for (const { work, times } of round % 2 === 0 ? works : works.toReversed()) {
      const ms = await measureMs(() => work(forms));
      // Negative rounds warm up.
      if (round >= 0) times.push(ms);
    }
  }
  const [{ times: oursMs }, { times: plainMs }] = works;
  return { oursMs: Math.min(...oursMs), plainMs: Math.min(...plainMs), medianMs: median(oursMs) };
}

/** In a separate process, so that nothing else is in its memory. */
async function measurePeak(words: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [MEMORY, ...words]);
  return Number(stdout);
}
