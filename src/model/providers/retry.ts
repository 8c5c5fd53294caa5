import { setTimeout as delay } from 'node:timers/promises';
import type { ModelFailure } from '../../ports/models.ts';

export type NextTry =
  /** `reason` is there when the failure's own message does not say why there is no other try. */
  { readonly kind: 'giveUp'; readonly reason?: string } | { readonly kind: 'wait'; readonly ms: number };

/** How often a request may be refused in a row. */
export const MAX_REFUSED = 6;
/** How often a reply may break off. Each of these attempts is paid for, so progress does not reset the count. */
export const MAX_BEGUN = 3;
/** Nobody waits longer than this without being asked. */
export const MAX_WAIT_MS = 5 * 60_000;

/** The attempts at one reply that have failed. */
export interface Attempts {
  /** Those that the model had begun to answer. */
  readonly begun: number;
  /** Those that it had not, since the last progress. */
  readonly refused: number;
}

export const NO_ATTEMPTS: Attempts = { begun: 0, refused: 0 };

export function countAttempt(
  { begun, refused }: Attempts,
  failed: { readonly begun: boolean; readonly progress: boolean },
): Attempts {
  const since = failed.progress ? 0 : refused;
  return failed.begun ? { begun: begun + 1, refused: since } : { begun, refused: since + 1 };
}

/** What to do after a failure, which is the last of the attempts. */
export function nextTry(failure: ModelFailure, attempts: Attempts, random: () => number): NextTry {
  if (!failure.retryable) return { kind: 'giveUp' };
  const { begun, refused } = attempts;
  if (begun >= MAX_BEGUN || refused >= MAX_REFUSED) {
    return { kind: 'giveUp', reason: `Gave up after ${begun + refused} attempts.` };
  }
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) {
    return { kind: 'wait', ms: withJitter(1000 * 2 ** (begun + refused - 1), random) };
  }
  if (retryAfterMs > MAX_WAIT_MS) {
    const minutes = Math.ceil(retryAfterMs / 60_000);
    return { kind: 'giveUp', reason: `The server asks to wait ${minutes} minutes. Run again then.` };
  }
  return { kind: 'wait', ms: Math.max(0, Math.ceil(retryAfterMs)) };
}

/** Up to a quarter more or less, so that many who failed together do not come back together. */
function withJitter(ms: number, random: () => number): number {
  return Math.round(ms * (0.75 + random() / 2));
}

export interface CountdownOptions {
  readonly signal: AbortSignal;
  /** Told how much is left, at once and then every second. */
  readonly onTick: (msLeft: number) => void;
  /** Resolves after the time, or rejects when the signal says so. */
  readonly timer?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const TICK_MS = 1000;

/** Waits, and tells how long it still takes. False when the signal ended it. */
export async function waitWithCountdown(ms: number, options: CountdownOptions): Promise<boolean> {
  const { signal, onTick, timer = wait } = options;
  for (let left = ms; left > 0; left -= TICK_MS) {
    if (signal.aborted) return false;
    onTick(left);
    try {
      await timer(Math.min(left, TICK_MS), signal);
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
  return !signal.aborted;
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
