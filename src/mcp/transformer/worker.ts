import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { callTransform, type Returned, type TransformInput } from '../../result/transform.ts';

export interface WorkerData {
  /** The address of the user's module. */
  readonly module: string;
  readonly input: TransformInput;
}

export type FromWorker =
  | { readonly kind: 'read'; readonly placeholder: string; readonly id: number }
  | { readonly kind: 'returned'; readonly returned: Returned | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

/** The answer to `read`. */
export interface ToWorker {
  readonly id: number;
  readonly bytes?: Uint8Array;
  readonly failure?: string;
}

if (parentPort !== null) {
  const port = parentPort;
  const reads: ((answer: ToWorker) => void)[] = [];
  const send = (message: FromWorker) => port.postMessage(message);
  // Also keeps the worker running while the user's function waits for something.
  port.on('message', (answer: ToWorker) => reads[answer.id]?.(answer));
  const read = (placeholder: string) =>
    new Promise<Uint8Array>((resolve, reject) => {
      const id =
        reads.push(({ bytes, failure }) => (bytes ? resolve(bytes) : reject(new Error(failure)))) - 1;
      send({ kind: 'read', placeholder, id });
    });
  try {
    const { module, input }: WorkerData = workerData;
    const loaded: { readonly default?: unknown } = await import(module);
    const transform = loaded.default;
    if (typeof transform !== 'function') throw new Error('its default export is not a function');
    const returned = await callTransform((result, tool) => transform(result, tool), input, read);
    send({ kind: 'returned', returned });
  } catch (error) {
    // Node adds the path of this file.
    send({ kind: 'failed', reason: messageOf(error).replace(/ imported from .*/s, '') });
  }
}
