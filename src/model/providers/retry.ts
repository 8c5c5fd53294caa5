import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../ports/document.ts';
import type { Failure } from '../../ports/failures.ts';
import type { ModelFailure } from '../../ports/models.ts';
import { RunError } from '../describeFailure.ts';

/** At one reply, whatever they fail with and however far they come: the user may pay for each. */
const MAX_ATTEMPTS = 3;
const MAX_WAIT_MS = 5 * 60_000;
const FIRST_WAIT_MS = 1000;
/** For a provider that says it is busy. */
const FIRST_BUSY_WAIT_MS = 5000;

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
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await request();
    } catch (error) {
      options.signal.throwIfAborted();
      if (!isModelFailure(error)) throw error;
      const gaveUp = await waitForRetry(error, attempts, options);
      options.signal.throwIfAborted();
      if (gaveUp) throw gaveUp;
    }
  }
}

export function isModelFailure(error: unknown): error is ModelFailure {
  return error instanceof Error && 'kind' in error && error.kind === 'modelFailure';
}

/** Waits before the next attempt. Resolves to an error for the user when there should be none. `attempts` have failed. */
export async function waitForRetry(
  failure: ModelFailure,
  attempts: number,
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
export function nextAttempt(failure: ModelFailure, attempts: number, random: () => number): NextAttempt {
  if (!failure.retryable) return { kind: 'giveUp' };
  if (attempts >= MAX_ATTEMPTS) return { kind: 'giveUp', attempts };
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) {
    const kind = failure.failure?.kind;
    const first = kind === 'rateLimit' || kind === 'overloaded' ? FIRST_BUSY_WAIT_MS : FIRST_WAIT_MS;
    // Up to a quarter more or less, so that clients that failed together do not retry together.
    const jitter = 0.75 + random() / 2;
    return { kind: 'wait', ms: Math.round(jitter * first * 2 ** (attempts - 1)) };
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
