/**
 * What was found out about a server, so that the next connection costs one round trip: that it speaks only the
 * revisions before 2026-07-28, and whether its address answers only the older way of HTTP. A server of the newer
 * revision needs no verdict, because asking it is the round trip.
 */
export interface Verdict {
  readonly era: 'legacy';
  readonly sse: boolean;
  readonly atMs: number;
}

/** Keeps verdicts by the server's fingerprint. */
export interface VerdictStore {
  read(fingerprint: string): Verdict | undefined;
  write(fingerprint: string, verdict: Verdict | undefined): void;
}

/** A server that was updated would be asked in the old way for ever. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

export function freshVerdict(verdict: Verdict | undefined, nowMs: number): Verdict | undefined {
  const ageMs = verdict === undefined ? Number.NaN : nowMs - verdict.atMs;
  return ageMs >= 0 && ageMs < MAX_AGE_MS ? verdict : undefined;
}

/** Forgets with the process. */
export class MemoryVerdicts implements VerdictStore {
  readonly #verdicts = new Map<string, Verdict>();

  read(fingerprint: string): Verdict | undefined {
    return this.#verdicts.get(fingerprint);
  }

  write(fingerprint: string, verdict: Verdict | undefined): void {
    if (verdict === undefined) this.#verdicts.delete(fingerprint);
    else this.#verdicts.set(fingerprint, verdict);
  }
}
