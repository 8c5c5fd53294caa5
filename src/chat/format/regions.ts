/** Offsets in a text. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** The number of items up to an offset, by binary search. The items must be in order. */
export function countUpTo<T>(items: readonly T[], offset: number, offsetOf: (item: T) => number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && offsetOf(item) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The regions must be in order. */
export function isWithin(regions: readonly Region[], offset: number): boolean {
  return offset < (regions[countUpTo(regions, offset, ({ start }) => start) - 1]?.end ?? 0);
}

export function shiftRegions(regions: readonly Region[], by: number): readonly Region[] {
  return regions.map(({ start, end }) => ({ start: start + by, end: end + by }));
}

/** The part of `text` inside `piece` and outside the regions, which are in order. */
export function textOutside(text: string, piece: Region, regions: readonly Region[]): string {
  const kept: string[] = [];
  let from = piece.start;
  for (const { start, end } of regions) {
    if (end <= from) continue;
    if (start >= piece.end) break;
    kept.push(text.slice(from, Math.max(from, start)));
    from = end;
  }
  return kept.join('') + text.slice(from, Math.max(from, piece.end));
}
