import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../ports/document.ts';
import type { Failure } from '../../ports/failures.ts';
import type { ModelFailure } from '../../ports/models.ts';
import { RunError } from '../failures.ts';

/** Consecutive attempts that the provider may refuse because it is busy. */
const MAX_REFUSED = 6;
/** Consecutive attempts that fail without a connection or with an error of the server: time seldom helps. */
const MAX_FAILED = 3;
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
      if (gaveUp) throw gaveUp;
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

/** Waits before the next attempt. Resolves to an error for the user when there should be none. */
export async function waitForRetry(
  failure: ModelFailure,
  attempts: Attempts,
  { log, onTick, ...options }: RetryOptions,
): Promise<Error | undefined> {
  const { message } = failure;
  const next = nextAttempt(failure, attempts, Math.random);
  if (next.kind === 'giveUp') {
    const { kind: _, ...reason } = next;
    if (!failure.failure && !failure.retryable) return failure;
    const known: Failure = failure.failure ?? { kind: 'failed', reason: message };
    return new RunError({ ...known, ...reason }, { cause: failure });
  }
  log?.warn(`${message} Retrying in ${Math.round(next.ms / 1000)} s.`);
  await waitWithCountdown(next.ms, { ...options, onTick: (ms) => onTick?.(ms, failure) });
  return undefined;
}

type NextAttempt =
  /** With the reason, if the failure itself does not explain it. */
  | ({ readonly kind: 'giveUp' } & Pick<Failure, 'attempts' | 'waitMinutes'>)
  | { readonly kind: 'wait'; readonly ms: number };

/** `attempts` includes the failure. */
export function nextAttempt(failure: ModelFailure, attempts: Attempts, random: () => number): NextAttempt {
  if (!failure.retryable) return { kind: 'giveUp' };
  const { begun, refused } = attempts;
  const kind = failure.failure?.kind;
  const maxRefused = kind === 'unreachable' || kind === 'failed' ? MAX_FAILED : MAX_REFUSED;
  if (begun >= MAX_BEGUN || refused >= maxRefused) {
    return { kind: 'giveUp', attempts: begun + refused };
  }
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) {
    // Up to a quarter more or less, so that clients that failed together do not retry together.
    const jitter = 0.75 + random() / 2;
    return { kind: 'wait', ms: Math.round(jitter * 1000 * 2 ** (begun + refused - 1)) };
  }
  if (retryAfterMs > MAX_WAIT_MS) {
    return { kind: 'giveUp', waitMinutes: Math.ceil(retryAfterMs / 60_000) };
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
