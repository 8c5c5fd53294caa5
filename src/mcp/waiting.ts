/** Waits for work that may go on without us: an abort ends the wait, with the signal's reason, and not the work. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return work;
  }
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) {
      abort();
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Waits no longer than this. Unlike a bare timer it keeps the process from ending while someone waits. */
export async function atMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A signal that is aborted when the time is over. */
export function startTimer(ms: number): { signal: AbortSignal; restart: () => void; stop: () => void } {
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(), ms);
  let timer: NodeJS.Timeout | undefined = start();
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const restart = () => {
    // What has been stopped stays so.
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = start();
  };
  return { signal: controller.signal, restart, stop };
}
