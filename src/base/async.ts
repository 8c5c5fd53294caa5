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

export interface Timer {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  restart(): void;
  /** No time passes until `resume`. */
  pause(): void;
  resume(): void;
  stop(): void;
}

/** A timer of silence starts anew after a pause; one that `keepsTime` goes on with what it had left. */
export function startTimer(ms: number, { keepsTime = false } = {}): Timer {
  const controller = new AbortController();
  let state: 'running' | 'paused' | 'stopped' = 'running';
  let leftMs = ms;
  let startedAtMs = Date.now();
  const start = () => setTimeout(() => controller.abort(), leftMs);
  let timer = start();
  const enter = (next: typeof state) => {
    // What has been stopped stays so, and what waits already does not wait twice.
    if (state === 'stopped' || (state === 'paused' && next === 'paused')) return;
    if (keepsTime && state === 'running') leftMs = Math.max(0, leftMs - (Date.now() - startedAtMs));
    state = next;
    clearTimeout(timer);
    startedAtMs = Date.now();
    if (state === 'running') timer = start();
  };
  return {
    signal: controller.signal,
    restart: () => state === 'running' && enter('running'),
    pause: () => enter('paused'),
    resume: () => state === 'paused' && enter('running'),
    stop: () => enter('stopped'),
  };
}

/** `Promise.withResolvers`, which Node 20 does not have. */
export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>['resolve'] = () => {};
  let reject: Deferred<T>['reject'] = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason: unknown) => void;
}

/** What the user says, or nothing once the signal says that nobody waits for it any more: a dialog cannot be closed. */
export async function untilAborted<T>(answer: PromiseLike<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await unlessAborted(Promise.resolve(answer), signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** How long a search may keep the event loop to itself. */
const MAX_SLICE_MS = 10;

/** Work on long texts asks this now and then, and pauses when others have waited long enough. */
export class TimeSlice {
  #since = performance.now();

  isOver(): boolean {
    return performance.now() - this.#since > MAX_SLICE_MS;
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}

/** Runs at most `limit` calls at a time. Results are in the order of the items. */
export async function mapConcurrently<T, U>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<U>,
): Promise<U[]> {
  const results = new Array<U>(items.length);
  const rest = items.entries();
  const worker = async () => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
