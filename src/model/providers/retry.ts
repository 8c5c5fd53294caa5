import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../ports/document.ts';
import type { ModelFailure } from '../../ports/models.ts';

/** Consecutive attempts that the provider may refuse. */
const MAX_REFUSED = 6;
/** Replies that may break off. The user pays for each of them, so progress does not reset this count. */
const MAX_BEGUN = 3;
const MAX_WAIT_MS = 5 * 60_000;

/** The failed attempts at one reply. */
export interface Attempts {
  /** Those with the beginning of a reply. */
  readonly begun: number;
  /** Those without, since the last progress. */
  readonly refused: number;
}

export const NO_ATTEMPTS: Attempts = { begun: 0, refused: 0 };

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** Called with the remaining time, immediately and then every second. */
  readonly onTick?: ((msLeft: number, failure: ModelFailure) => void) | undefined;
  readonly log?: Log | undefined;
  /** Rejects when the signal is aborted. */
  readonly timer?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

/** Repeats a request until it succeeds, the signal is aborted, or another attempt is pointless. */
export async function withRetries<T>(request: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let attempts = NO_ATTEMPTS; ; ) {
    try {
      return await request();
    } catch (error) {
      options.signal.throwIfAborted();
      if (!isModelFailure(error)) throw error;
      attempts = countAttempt(attempts, { begun: error.begun === true, progress: false });
      const gaveUp = await waitForRetry(error, attempts, options);
      options.signal.throwIfAborted();
      if (gaveUp !== undefined) throw new Error(gaveUp, { cause: error });
    }
  }
}

export function isModelFailure(error: unknown): error is ModelFailure {
  return error instanceof Error && 'kind' in error && error.kind === 'modelFailure';
}

export function countAttempt(
  { begun, refused }: Attempts,
  failed: { readonly begun: boolean; readonly progress: boolean },
): Attempts {
  const since = failed.progress ? 0 : refused;
  return failed.begun ? { begun: begun + 1, refused: since } : { begun, refused: since + 1 };
}

/** Waits before the next attempt. Resolves to a message for the user when there should be none. */
export async function waitForRetry(
  failure: ModelFailure,
  attempts: Attempts,
  { log, onTick, ...options }: RetryOptions,
): Promise<string | undefined> {
  const { message } = failure;
  const next = nextAttempt(failure, attempts, Math.random);
  if (next.kind === 'giveUp') return next.reason === undefined ? message : `${message} ${next.reason}`;
  log?.warn(`${message} Retrying in ${Math.round(next.ms / 1000)} s.`);
  await waitWithCountdown(next.ms, { ...options, onTick: (ms) => onTick?.(ms, failure) });
  return undefined;
}

type NextAttempt =
  /** `reason` is set when the failure's own message does not explain it. */
  { readonly kind: 'giveUp'; readonly reason?: string } | { readonly kind: 'wait'; readonly ms: number };

/** `attempts` includes the failure. */
export function nextAttempt(failure: ModelFailure, attempts: Attempts, random: () => number): NextAttempt {
  if (!failure.retryable) return { kind: 'giveUp' };
  const { begun, refused } = attempts;
  if (begun >= MAX_BEGUN || refused >= MAX_REFUSED) {
    return { kind: 'giveUp', reason: `Gave up after ${begun + refused} attempts.` };
  }
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) {
    // Up to a quarter more or less, so that clients that failed together do not retry together.
    const jitter = 0.75 + random() / 2;
    return { kind: 'wait', ms: Math.round(jitter * 1000 * 2 ** (begun + refused - 1)) };
  }
  if (retryAfterMs > MAX_WAIT_MS) {
    const minutes = Math.ceil(retryAfterMs / 60_000);
    return { kind: 'giveUp', reason: `The provider asks to wait ${minutes} minutes. Try again later.` };
  }
  return { kind: 'wait', ms: Math.max(0, Math.ceil(retryAfterMs)) };
}

const TICK_MS = 1000;

type CountdownOptions = Pick<RetryOptions, 'signal' | 'timer'> & { onTick(msLeft: number): void };

/** Resolves early when the signal is aborted. */
export async function waitWithCountdown(
  ms: number,
  { signal, onTick, timer = sleep }: CountdownOptions,
): Promise<void> {
  for (let left = ms; left > 0 && !signal.aborted; left -= TICK_MS) {
    onTick(left);
    try {
      await timer(Math.min(left, TICK_MS), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

/** Rejects when the signal is aborted. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
