import { eachLine } from '../../base/lines.ts';
import type { TextEdit } from '../../ports/document.ts';

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

export function insertion(at: number, text: string): TextEdit {
  return { start: at, end: at, text };
}

/** Inserts whole lines, separated by blank lines from the text around them. */
export function insertLines(text: string, at: number, lines: string): TextEdit {
  const before = text.slice(Math.max(0, at - 4), at).replaceAll('\r\n', '\n');
  const gap = at === 0 || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return insertion(at, `${gap}${lines}${at < text.length ? '\n' : ''}`);
}

/** The text after the edit. */
export function editedText(text: string, { start, end, text: addition }: TextEdit): string {
  return text.slice(0, start) + addition + text.slice(end);
}

/** The start of the next line that is not blank. */
export function skipBlankLines(text: string, from: number): number {
  for (const line of eachLine(text, from)) if (line.text.trim() !== '') return line.start;
  return text.length;
}

export function lineEndOf(text: string): '\n' | '\r\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
