export interface Line {
  /** Without the line ending, which is `\n` or `\r\n`. */
  readonly text: string;
  readonly start: number;
  readonly next: number;
}

/** `skips` gets the code of a line's first character, so that lines can be skipped cheaply. */
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

/** Moves an end offset before the line break that precedes it, if there is one. */
export function beforeLineBreak(text: string, end: number): number {
  if (text[end - 1] !== '\n') return end;
  return text[end - 2] === '\r' ? end - 2 : end - 1;
}

/** Removes blank lines at both ends, in linear time, unlike a regular expression. */
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

/** Undefined if the bytes are not UTF-8; the last character of cut bytes may be incomplete. Keeps a byte order mark. */
export function decodeUtf8(bytes: Uint8Array, { isCut = false } = {}): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}

/** Text on one line without invisible characters, for lists. */
export function visibleLine(text: string): string {
  return text
    .replace(/[\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Converts offsets to line numbers, from 0. Offsets must be given in ascending order. */
export class LineCounter {
  readonly #text: string;
  #line = 0;
  /** Cached, because lines can be very long. */
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

/** Colors, cursor movements, titles and links for terminals. */
const TERMINAL_SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b[PX^_][^\u001b]{0,4096}\u001b\\|\u001b[ -/]*[0-~]/g;

/** Removes what only a terminal understands, such as `ESC[31m`. */
export function withoutTerminalSequences(text: string): string {
  return /[\u001b\u009b]/.test(text) ? text.replace(TERMINAL_SEQUENCE, '') : text;
}

const LINE_END = /\r\n|[\n\r\u2028\u2029]/;

/** The lines of untrusted text, without blank ones at the edges and in a row, up to a limit. */
export function foldLines(
  text: string,
  maxLines: number,
): { readonly lines: readonly string[]; readonly more: number } {
  const all = text.trim().split(LINE_END);
  const folded = all.filter((line, at) => line.trim() !== '' || all[at - 1]?.trim() !== '');
  const lines = folded.slice(0, maxLines);
  return { lines, more: folded.length - lines.length };
}
