/** Rejects with the signal's reason when it is aborted; the work itself continues. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Resolves when the work is done or the time is up. */
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
  readonly signal: AbortSignal;
  restart(): void;
  pause(): void;
  resume(): void;
  stop(): void;
}

/** The whole milliseconds since it was started, however the clock of the machine is set. */
export function stopwatch(): () => number {
  const startedAtMs = performance.now();
  return () => Math.round(performance.now() - startedAtMs);
}

/** After a pause, the timer restarts with the full time, or with the remaining time if `keepsTime`. */
export function startTimer(ms: number, { keepsTime = false } = {}): Timer {
  const controller = new AbortController();
  let state: 'running' | 'paused' | 'stopped' = 'running';
  let leftMs = ms;
  let startedAtMs = performance.now();
  const start = () => setTimeout(() => controller.abort(), leftMs);
  let timer = start();
  const enter = (next: typeof state) => {
    if (state === 'stopped' || (state === 'paused' && next === 'paused')) return;
    if (keepsTime && state === 'running') leftMs = Math.max(0, leftMs - (performance.now() - startedAtMs));
    state = next;
    clearTimeout(timer);
    startedAtMs = performance.now();
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
export function deferred<T>() {
  let resolve!: (value: T | PromiseLike<T>) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** Like `unlessAborted`, but resolves to undefined on abort. For dialogs, which cannot be closed by code. */
export async function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await unlessAborted(Promise.resolve(work), signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

const MAX_SLICE_MS = 10;

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

/** Limits how many tasks of the same key run at a time. The others wait in order. */
export class ConcurrencyLimit {
  readonly #limit: () => number;
  readonly #queues = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  /** The limit is read at every use. */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Rejects with the signal's reason if it is aborted while the work waits. */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const queue = this.#queues.get(key) ?? { running: 0, waiting: [] };
    this.#queues.set(key, queue);
    const { promise: turn, resolve: begin } = deferred<void>();
    queue.waiting.push(begin);
    this.#advance(key);
    try {
      await unlessAborted(turn, signal);
    } catch (error) {
      const at = queue.waiting.indexOf(begin);
      if (at >= 0) queue.waiting.splice(at, 1);
      else this.#end(key);
      throw error;
    }
    try {
      return await work();
    } finally {
      this.#end(key);
    }
  }

  #end(key: string): void {
    const queue = this.#queues.get(key);
    if (queue) queue.running -= 1;
    this.#advance(key);
    if (queue?.running === 0 && queue.waiting.length === 0) this.#queues.delete(key);
  }

  #advance(key: string): void {
    const queue = this.#queues.get(key);
    while (queue && queue.waiting.length > 0 && queue.running < this.#limit()) {
      queue.running += 1;
      queue.waiting.shift()?.();
    }
  }
}

/** Runs work of the same key one after the other. */
export class Queues {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(key) === settled) this.#last.delete(key);
      });
    this.#last.set(key, settled);
    return done;
  }
}

/** Runs the first work of a key at once, and of those that follow within the interval only the last, at its end. */
export class Throttle {
  readonly #ms: number;
  readonly #pending = new Map<string, { readonly timer: NodeJS.Timeout; work?: () => void }>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  dispose(): void {
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  /** Runs the works that wait for the end of an interval. */
  flush(): void {
    const works = [...this.#pending.values()].map(({ work }) => work);
    this.dispose();
    for (const work of works) work?.();
  }

  run(key: string, work: () => void): void {
    const pending = this.#pending.get(key);
    if (pending) {
      pending.work = work;
      return;
    }
    // Before the work, which may call `run` again.
    this.#pending.set(key, { timer: setTimeout(() => this.#end(key), this.#ms) });
    work();
  }

  #end(key: string): void {
    const work = this.#pending.get(key)?.work;
    this.#pending.delete(key);
    if (work) this.run(key, work);
  }
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** A server that ran this long before it failed was healthy. */
const HEALTHY_MS = 60_000;

export class Backoff {
  /** The configuration that has failed. */
  of: string | undefined;
  failures = 0;
  retryAtMs = 0;
  #reason = '';
  #isBroken = false;

  get reason(): string | undefined {
    return this.failures === 0 ? undefined : this.#reason;
  }

  /** The first failure causes no delay; each further failure doubles it. `livedMs` is undefined if it did not start. */
  failed(
    reason: string,
    { nowMs, livedMs }: { readonly nowMs: number; readonly livedMs: number | undefined },
  ): void {
    if (livedMs !== undefined && livedMs >= HEALTHY_MS) this.failures = 0;
    this.failures += 1;
    this.#isBroken = livedMs === undefined;
    this.#reason = reason;
    const doublings = this.failures - 2;
    this.retryAtMs = doublings < 0 ? nowMs : nowMs + Math.min(FIRST_DELAY_MS * 2 ** doublings, MAX_DELAY_MS);
  }

  reset(): void {
    this.failures = 0;
    this.retryAtMs = 0;
    this.#isBroken = false;
  }

  /**
   * Why the server is not started now. One that could not be started is left alone until the user starts it or its
   * configuration changes. `restart` says how.
   */
  refusal(nowMs: number, server: string, restart: string): string | undefined {
    if (this.#isBroken) return `${this.#reason} Fix the cause, then ${restart}.`;
    const waitMs = this.retryAtMs - nowMs;
    if (waitMs <= 0) return undefined;
    const seconds = Math.ceil(waitMs / 1000);
    return `Server ${server} failed ${this.failures} times in a row. Try again in ${seconds} s, or ${restart} now. Last error: ${this.#reason}`;
  }
}
