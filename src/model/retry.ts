import { setTimeout as delay } from 'node:timers/promises';
import type { ModelFailure } from '../ports.ts';

export type NextTry =
  /** `reason` is there when the failure's own message does not say why there is no other try. */
  { readonly kind: 'giveUp'; readonly reason?: string } | { readonly kind: 'wait'; readonly ms: number };

export const MAX_TRIES = 6;
/** Nobody waits longer than this without being asked. */
export const MAX_WAIT_MS = 5 * 60_000;

/** What to do after a failure. `attempt` counts the tries that have been made, from 1. */
export function nextTry(failure: ModelFailure, attempt: number, random: () => number): NextTry {
  if (!failure.retryable) return { kind: 'giveUp' };
  if (attempt >= MAX_TRIES) return { kind: 'giveUp', reason: `It was tried ${attempt} times.` };
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined || !Number.isFinite(retryAfterMs)) {
    return { kind: 'wait', ms: withJitter(1000 * 2 ** (attempt - 1), random) };
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
