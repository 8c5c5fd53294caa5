import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { hasCode, messageOf } from '../../base/errors.ts';
import type { RunTransform } from '../../result/transform.ts';
import type { FromWorker, ToWorker, WorkerData } from './worker.ts';

/** The worker is built beside this module. */
const WORKER = import.meta.url.endsWith('.ts') ? './worker.ts' : './transformer.js';
/** Of the JavaScript heap, in which the strings of a result are. */
const MAX_HEAP_MB = 1024;

/** Calls the default export of a module in a worker of its own, which can be ended whatever it does. */
export function transformIn(path: string): RunTransform {
  return (input, read, signal) =>
    new Promise((resolve, reject) => {
      const data: WorkerData = { module: pathToFileURL(path).href, input };
      const worker = new Worker(new URL(WORKER, import.meta.url), {
        workerData: data,
        resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
        execArgv: [],
        stdout: true,
      });
      // The standard output of this process is for results.
      worker.stdout.on('data', (text: Uint8Array) => process.stderr.write(text));
      const settle = (then: () => void) => {
        signal.removeEventListener('abort', abort);
        worker.removeAllListeners();
        // An error after the end is ignored.
        worker.on('error', () => undefined);
        worker.terminate().then(then, then);
      };
      const fail = (reason: string) => settle(() => reject(new Error(reason)));
      const abort = () => fail('it was ended');
      signal.addEventListener('abort', abort, { once: true });
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'returned') return settle(() => resolve(message.returned));
        if (message.kind === 'failed') return fail(message.reason);
        const { id, placeholder } = message;
        const answer = (answered: Omit<ToWorker, 'id'>) => worker.postMessage({ id, ...answered });
        read(placeholder).then(
          (bytes) => answer({ bytes }),
          (error: unknown) => answer({ failure: messageOf(error) }),
        );
      });
      worker.on('error', (error) =>
        fail(hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY') ? 'it needs too much memory' : messageOf(error)),
      );
      worker.on('exit', () => fail('it exited the process'));
    });
}
