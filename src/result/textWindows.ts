import { startOfLine } from '../base/lines.ts';
import { cleanText } from './blocks.ts';
import { looksLikeJson } from './jsonText.ts';

/** Restores a string that went to a file. */
export type TextPieces = () => AsyncIterable<string>;

const WINDOW_CHARS = 1024 * 1024;
/** Shorter JSON is one window: it is parsed. */
const JSON_WINDOW_CHARS = 8_000_000;
/** The sequences of terminals, and the labels and titles of links, are shorter. */
const MAX_SEQUENCE_CHARS = 4200;
const MAX_AROUND_CHARS = 320;
const MAX_TRIED_CHARS = 100_000;
/** A line break or a terminal sequence that may continue in the next piece. */
const OPEN_SEQUENCE =
  /(?:\r|(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b\][^\u0007\u001b]{0,4096}\u001b?|\u001b[PX^_][^\u001b]{0,4096}\u001b?|\u001b[ -/]*)$/;
/** The shortest base64 that is looked for. */
const DENSE = /[\w+/\\-]{60}/;

/** The joined pieces. */
export async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

/** A long text, cleaned, in windows of which none ends within base64 and what belongs to it. */
export async function* windowsOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let [raw, text, wanted] = ['', '', 0];
  for await (const piece of pieces) {
    raw += piece;
    const tail = raw.slice(-MAX_SEQUENCE_CHARS);
    const open = tail.search(OPEN_SEQUENCE);
    const end = open < 0 ? raw.length : raw.length - tail.length + open;
    text += cleanText(raw.slice(0, end));
    raw = raw.slice(end);
    wanted ||= looksLikeJson(text) ? JSON_WINDOW_CHARS : WINDOW_CHARS;
    if (text.length <= wanted) continue;
    const cut = findCut(text);
    if (cut === undefined) wanted = 2 * text.length;
    else {
      yield text.slice(0, cut);
      [text, wanted] = [text.slice(cut), WINDOW_CHARS];
    }
  }
  yield text + cleanText(raw);
}

/** The text if it is a single window. */
export async function onlyWindow(pieces: AsyncIterable<string>): Promise<string | undefined> {
  const windows = windowsOf(pieces);
  const first = await windows.next();
  const { done } = await windows.next();
  await windows.return(undefined);
  return done ? first.value : undefined;
}

function findCut(text: string): number | undefined {
  const last = text.length - MAX_AROUND_CHARS;
  for (let at = last; at > last - MAX_TRIED_CHARS; at -= 1) {
    const before = text[at - 1];
    if (before === ',' && text[at] === '"') return at;
    const isBetweenLines = () =>
      !DENSE.test(text.slice(at - 61, at - 1)) && !DENSE.test(text.slice(at, at + 60));
    if (before === '\n' && isBetweenLines()) return at;
    if (before !== ' ') continue;
    if (!DENSE.test(text.slice(at - MAX_AROUND_CHARS, at + MAX_AROUND_CHARS))) return at;
    at -= MAX_AROUND_CHARS;
  }
  return undefined;
}

const END_CHARS = 4096;

/** The beginning and the end of a long text, without long blanks at its edges, or all of a short one. */
export class TextEnds {
  readonly #maxWholeChars: number;
  #whole: string | undefined = '';
  #head = '';
  #tail = '';

  constructor(maxWholeChars: number) {
    this.#maxWholeChars = Math.max(maxWholeChars, 2 * END_CHARS);
  }

  add(piece: string): void {
    if (this.#whole !== undefined)
      this.#whole = this.#whole.length + piece.length > this.#maxWholeChars ? undefined : this.#whole + piece;
    if (this.#head.length < END_CHARS) {
      const head = this.#head + piece;
      const at = head.search(/\S/);
      this.#head = at < 0 ? '' : head.slice(startOfLine(head, at)).slice(0, END_CHARS);
    }
    const end = piece.trimEnd();
    this.#tail = (this.#tail + (piece.length - end.length > END_CHARS / 2 ? end : piece)).slice(-END_CHARS);
  }

  /** Undefined for a text that is longer than asked for. */
  get whole(): string | undefined {
    return this.#whole;
  }

  /** Begins and ends like the whole text, and is longer than its preview. */
  get text(): string {
    return this.#whole ?? `${this.#head}\n${this.#tail}`;
  }
}
