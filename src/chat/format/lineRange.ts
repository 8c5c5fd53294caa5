import { eachLine } from '../../base/lines.ts';

/** Lines of a file, counted from 1. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** As editors and GitHub write it: `#L10`, `#L10-L20`, `#L10-20` or `#L10C1-L20C5`. */
const FRAGMENT = /#L(\d{1,9})(?:C\d{1,9})?(?:-L?(\d{1,9})(?:C\d{1,9})?)?$/;

/** The lines that the target of a link names. Any other fragment names none. */
export function readLineRange(target: string): LineRange | undefined {
  const [, from, to = from] = FRAGMENT.exec(target) ?? [];
  if (from === undefined) return undefined;
  const [first, last] = [Number(from), Number(to)];
  return first <= last ? { first, last } : { first: last, last: first };
}

/** `#L10-L20` */
export function renderLineRange({ first, last }: LineRange): string {
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}

/** `line 10` or `lines 10–20` */
export function describeLines({ first, last }: LineRange): string {
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

/** The lines that exist, without their line endings, and the number of all: a line break at the end begins no further one. */
export function selectLines(text: string, { first, last }: LineRange) {
  const lines: string[] = [];
  let total = 0;
  for (const line of eachLine(text)) {
    total += 1;
    if (total >= first && total <= last && first > 0) lines.push(line.text);
  }
  return { lines, total };
}
