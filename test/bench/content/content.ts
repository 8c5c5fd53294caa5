/** Images of 10 MB through the content helpers: how long it takes, against the bare work in the same rounds. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from '../chat/chatTypes.ts';
import type { ContentResults, ContentRow } from './contentReport.ts';
import { CONTENT_TASKS, type ContentTask, loadForms, noisyPng } from './contentTasks.ts';

const IMAGE_BYTES = 10 * 1024 * 1024;
const SMALL_BYTES = 1_000;
const ROUNDS = 21;
const MEMORY = join(import.meta.dirname, 'contentMemory.ts');

export async function measureContent(): Promise<ContentResults> {
  const folder = await mkdtemp(join(tmpdir(), 'filechat-bench-'));
  const [small, large] = [join(folder, 'small.png'), join(folder, 'large.png')];
  try {
    await writeFile(small, noisyPng(SMALL_BYTES));
    await writeFile(large, noisyPng(IMAGE_BYTES));
    const rows: ContentRow[] = [];
    for (const [number, task] of CONTENT_TASKS.entries()) {
      console.error(`content: ${task.what}`);
      const peak = (way: 'ours' | 'plain') => measurePeak([`${number}`, way, small, large]);
      const { what, against } = task;
      rows.push({
        what,
        against,
        ...(await measureTimes(task, large)),
        oursPeakBytes: await peak('ours'),
        plainPeakBytes: await peak('plain'),
      });
    }
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`;
    return {
      date: new Date().toISOString(),
      node: process.version,
      machine,
      imageBytes: IMAGE_BYTES,
      rows,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * In turns, so that a passing load does not hit one of the two alone. The fastest rounds are compared: whatever else
 * the machine does can only make one slower. Whether it is fast enough, the middle one says.
 */
async function measureTimes({ form, ours, plain }: ContentTask, path: string) {
  const forms = await loadForms(path, form);
  const oursMs: number[] = [];
  const plainMs: number[] = [];
  // The rounds before the first are not counted: the engine still learns.
  for (let round = -2; round < ROUNDS; round += 1) {
    const works = [
      { work: ours, taken: oursMs },
      { work: plain, taken: plainMs },
    ];
    // Each begins every other round: who comes second may have to clear away what the first one left.
    for (const { work, taken } of round % 2 === 0 ? works : works.toReversed()) {
      const ms = await time(() => work(forms));
      if (round >= 0) taken.push(ms);
    }
  }
  return { oursMs: Math.min(...oursMs), plainMs: Math.min(...plainMs), middleMs: median(oursMs) };
}

async function time(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** In a process of its own, so that nothing else is in its memory. */
async function measurePeak(words: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [MEMORY, ...words]);
  return Number(stdout);
}
