/**
 * In which list items a line of a reply surely is, as every Markdown preview reads it. What previews may disagree
 * about, or what depends on more than the line and the items above it, is not sure and is left out.
 */

export interface ListLine {
  /** The columns at which the words of the open items begin, outermost first. */
  readonly items: readonly number[];
  /** Where the words of the line begin, behind its bullets. */
  readonly column: number;
  /** The innermost item that surely holds these words begins its own here; 0 outside of lists. */
  readonly base: number;
  readonly words: string;
  /** Words that look like the beginning of a block are one: they are no indented code and go on no paragraph. */
  readonly beginsBlock: boolean;
}

const BULLET = /^(?:[-*+]|(\d{1,9})[.)])( {1,4})(?=[^ \t])/;
/** Perhaps a line across the page, and no item. */
const RULE = /^[-*_+= \t]+$/;
export const MAX_INDENT = 3;
/** A long row of bullets must not take for ever. */
const MAX_ITEMS = 30;

export function readListLine(open: readonly number[], line: string, afterBlank: boolean): ListLine {
  const margin = /^[ \t]*/.exec(line)?.[0] ?? '';
  let column = columnsOf(margin);
  let words = line.slice(margin.length);
  if (words === '') return { items: open, column, base: open.at(-1) ?? 0, words, beginsBlock: false };
  const items = open.filter((item) => item <= column);
  const base = items.at(-1) ?? 0;
  const beginsBlock = column - base <= MAX_INDENT;
  // The paragraph above is in an item that ends here, if there is one.
  let maybeInParagraph = !afterBlank && items.length === open.length;
  // With a bar in it, the line may be the head of a table, bullets and all.
  if (!beginsBlock || line.includes('|')) return { items, column, base, words, beginsBlock };
  for (let bullet = BULLET.exec(words); bullet && !RULE.test(words); bullet = BULLET.exec(words)) {
    // A list that does not begin with 1 cannot interrupt a paragraph.
    if (maybeInParagraph && bullet[1] !== undefined && bullet[1] !== '1') break;
    if (items.length >= MAX_ITEMS) break;
    maybeInParagraph = false;
    column += bullet[0].length;
    words = words.slice(bullet[0].length);
    items.push(column);
  }
  return { items, column, base: items.at(-1) ?? 0, words, beginsBlock };
}

/** How far in a line begins; a tab leads to the next multiple of four. */
export function columnsOf(margin: string): number {
  let columns = 0;
  for (const character of margin) columns += character === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
