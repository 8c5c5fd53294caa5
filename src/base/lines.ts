/** One line of a text: `text` without its ending, which may be `\n` or `\r\n`. */
export interface Line {
  readonly text: string;
  readonly start: number;
  /** Where the next line begins. */
  readonly next: number;
}

/** `skips` is asked with the code of a line's first character; a line that it skips costs next to nothing. */
export function* eachLine(text: string, from = 0, skips?: (firstCode: number) => boolean): Generator<Line> {
  let start = from;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const next = newline < 0 ? text.length : newline + 1;
    if (!skips?.(text.charCodeAt(start))) {
      let end = newline < 0 ? text.length : newline;
      if (end > start && text[end - 1] === '\r') end -= 1;
      yield { text: text.slice(start, end), start, next };
    }
    start = next;
  }
}

/** Where a region ends that is not to have the line break at its end. */
export function beforeLineBreak(text: string, end: number): number {
  if (text[end - 1] !== '\n') return end;
  return text[end - 2] === '\r' ? end - 2 : end - 1;
}

/** Takes away blank lines at both ends; in time that grows with the text, which a regular expression's does not. */
export function trimBlankLines(text: string): string {
  let start = 0;
  for (const line of eachLine(text)) {
    if (line.text.trim() !== '' || line.next === text.length) break;
    start = line.next;
  }
  let end = text.length;
  while (end > start) {
    const newline = text.lastIndexOf('\n', end - 1);
    if (newline < start || text.slice(newline, end).trim() !== '') break;
    end = newline;
  }
  return text.slice(start, end);
}

/** Words for a list: on one line, and without what nobody sees. */
export function visibleLine(text: string): string {
  return text
    .replace(/[\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Says on which line an offset is, counted from 0. Offsets come in order, so that no line is counted twice. */
export class LineCounter {
  readonly #text: string;
  #line = 0;
  /** Where the line ends, kept because it may be millions of characters away. */
  #lineEnd: number;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = this.#endOfLine(0);
  }

  lineAt(offset: number): number {
    while (this.#lineEnd < offset) {
      this.#line += 1;
      this.#lineEnd = this.#endOfLine(this.#lineEnd + 1);
    }
    return this.#line;
  }

  #endOfLine(from: number): number {
    const at = this.#text.indexOf('\n', from);
    return at < 0 ? Number.POSITIVE_INFINITY : at;
  }
}

export function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The end of the line at an offset, without its line break. */
export function endOfLine(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline < 0) return text.length;
  return newline > offset && text[newline - 1] === '\r' ? newline - 1 : newline;
}
