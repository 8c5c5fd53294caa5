import { deferred } from './deferred.ts';

/** What the user says, or nothing once the signal says that nobody waits for it any more: a dialog cannot be closed. */
export async function untilAborted<T>(answer: Thenable<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise, resolve } = deferred<undefined>();
  const stop = () => resolve(undefined);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, answer]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
