/** The words that the parts of the chat's bench share. */

export interface ChatRow {
  readonly what: string;
  readonly ours: number;
  readonly theirs: number;
  /** What the two are counted in. */
  readonly unit: 'ms' | 'tokens';
  /** What `theirs` is. */
  readonly against: string;
  /** Where there is one: how the two must stand to each other. */
  readonly target?: Target;
}

/** `maxShare`: ours is less than this share of theirs. `minTimes`: theirs is at least so many times ours. */
export type Target =
  | { readonly kind: 'maxShare'; readonly share: number }
  | { readonly kind: 'minTimes'; readonly times: number };

export interface ChatResults {
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  readonly rows: readonly ChatRow[];
  /** What could not be measured, and why. */
  readonly failures: readonly string[];
}

/** A reply of so many KB was written below a chat of so many turns, by the bare loop or by us. */
export interface Stream {
  readonly way: 'bare' | 'ours';
  readonly turns: number;
  readonly kb: number;
  readonly edits: number;
  readonly ms: number;
  /** What the extension host worked meanwhile. */
  readonly cpuMs: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
