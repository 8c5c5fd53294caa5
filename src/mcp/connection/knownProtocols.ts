/**
 * The result of a protocol negotiation, kept so that the next connection takes one round trip. Only servers older than
 * 2026-07-28 need one: for newer servers, the probe is that round trip.
 */
export interface KnownProtocol {
  readonly era: 'legacy';
  readonly sse: boolean;
  readonly atMs: number;
}

/** Known protocols by the fingerprint of the server. */
export interface KnownProtocols {
  read(fingerprint: string): KnownProtocol | undefined;
  write(fingerprint: string, known: KnownProtocol | undefined): void;
}

/** After this time the server is probed again, because it may have been updated. */
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

export function unlessExpired(known: KnownProtocol | undefined, nowMs: number): KnownProtocol | undefined {
  const ageMs = known === undefined ? Number.NaN : nowMs - known.atMs;
  return ageMs >= 0 && ageMs < MAX_AGE_MS ? known : undefined;
}

export class InMemoryProtocols implements KnownProtocols {
  readonly #known = new Map<string, KnownProtocol>();

  read(fingerprint: string): KnownProtocol | undefined {
    return this.#known.get(fingerprint);
  }

  write(fingerprint: string, known: KnownProtocol | undefined): void {
    if (known === undefined) this.#known.delete(fingerprint);
    else this.#known.set(fingerprint, known);
  }
}
