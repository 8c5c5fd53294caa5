import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import type { Job, Outcome } from './job.ts';

/** For loading the libraries, which a busy machine can delay. */
const START_MS = 20_000;
const DEADLINE_MS: Readonly<Record<Job['kind'], number>> = { document: 5000, image: 15_000 };
/** Limits of the JavaScript heap. Buffers are outside of it and are watched. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 };
const MAX_GROWTH_BYTES = 900_000_000;
const WATCH_MS = 50;

/** The worker is built beside this module. */
const WORKER = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';

/**
 * Runs a job in a worker of its own, which is ended when it takes too long or too much memory. Rejects only when
 * aborted.
 */
export function runJob(job: Job, signal?: AbortSignal, deadlineMs = DEADLINE_MS[job.kind]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const worker = new Worker(new URL(WORKER, import.meta.url), {
      workerData: job,
      resourceLimits: RESOURCE_LIMITS,
      execArgv: [],
      env: {},
      // The standard output of this process may be a protocol stream.
      stdout: true,
      stderr: true,
    });
    worker.stdout.resume();
    worker.stderr.resume();
    const fail = (reason: string) => settle(() => resolve({ kind: 'failed', reason }));
    const startedWith = process.memoryUsage.rss();
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() - startedWith > MAX_GROWTH_BYTES) fail('it needs too much memory');
    }, WATCH_MS);
    const late = () => fail(`it could not be read within ${deadlineMs / 1000} s`);
    let timer = setTimeout(late, START_MS);
    const abort = () => settle(() => reject(signal?.reason));
    const settle = (then: () => void) => {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener('abort', abort);
      worker.removeAllListeners();
      // An error after the end is ignored.
      worker.on('error', () => undefined);
      worker.terminate().then(then, then);
    };
    signal?.addEventListener('abort', abort, { once: true });
    worker.on('message', (message: 'ready' | Outcome) => {
      if (message !== 'ready') return settle(() => resolve(message));
      clearTimeout(timer);
      timer = setTimeout(late, deadlineMs);
    });
    worker.on('error', (error) => fail(describeCrash(error)));
    worker.on('exit', () => fail('the reader ended unexpectedly'));
  });
}

function describeCrash(error: unknown): string {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? 'it needs too much memory' : `it cannot be read: ${messageOf(error)}`;
}
