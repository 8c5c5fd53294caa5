import type { PageRange } from './job.ts';

const MAX_RANGES = 100;

/** Reads `3`, `1-3,7` or `10-`. Undefined for anything else. */
export function parsePages(written: string): readonly PageRange[] | undefined {
  const parts = written.split(',').map((part) => part.trim());
  if (parts.length > MAX_RANGES) return undefined;
  const ranges = parts.map(parseRange);
  return ranges.every((range) => range !== undefined) ? ranges : undefined;
}

function parseRange(written: string): PageRange | undefined {
  const match = /^(\d{1,9})(?:\s*(-|–)\s*(\d{1,9})?)?$/.exec(written);
  if (!match) return undefined;
  const first = Number(match[1]);
  const last = match[2] === undefined ? first : match[3] === undefined ? undefined : Number(match[3]);
  return first < 1 || (last !== undefined && last < first) ? undefined : { first, last };
}

/** The numbers of the chosen pages that exist, in order. All pages if none were chosen. */
export function selectPages(ranges: readonly PageRange[] | undefined, total: number): readonly number[] {
  const all = Array.from({ length: total }, (_, at) => at + 1);
  if (ranges === undefined) return all;
  return all.filter((page) => ranges.some(({ first, last = total }) => page >= first && page <= last));
}
