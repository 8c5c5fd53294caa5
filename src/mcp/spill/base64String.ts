import { messageOf } from '../../base/errors.ts';
import { writeFailure } from '../../base/fileErrors.ts';
import type { Spill } from '../../ports/results.ts';
import { readSpilled, type SpillFile, type SpillTable } from './spillFiles.ts';

/** The part of a data: URL before the base64, as raw JSON text. */
interface DataUrlHead {
  readonly raw: string;
  readonly mimeType?: string;
}

type Outcome =
  | { readonly kind: 'base64' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

export const MAX_DATA_URL_HEAD_CHARS = 320;
const DATA_URL_HEAD = /^data:((?:[^,;"\\]|\\\/|\\u002f)*)(?:;(?:[^,;"\\]|\\\/)*)*;base64,/i;

/** Undefined when the raw text does not begin as a base64 data: URL. */
export function readDataUrlHead(raw: Buffer): DataUrlHead | undefined {
  const found = DATA_URL_HEAD.exec(raw.toString('latin1', 0, MAX_DATA_URL_HEAD_CHARS));
  if (found === null || !/^[\x20-\x7e]*$/.test(found[0])) return undefined;
  const [head, rawType = ''] = found;
  const mimeType = unquote(rawType);
  return mimeType ? { raw: head, mimeType } : { raw: head };
}

/** One long string on its way to a file. Takes the raw inside of a JSON string piece by piece. */
export class StringSpill {
  readonly #table: SpillTable;
  readonly #head: DataUrlHead | undefined;
  readonly #file: SpillFile;
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #text: Base64Text = EMPTY;
  #outcome: Outcome = { kind: 'base64' };
  /** Bytes after the base64 of a string that is not kept. */
  #trailingBytes = 0;

  constructor(table: SpillTable, head: DataUrlHead | undefined) {
    this.#table = table;
    this.#head = head;
    this.#file = table.begin();
  }

  /** False once the string is only counted. */
  get isKept(): boolean {
    return this.#outcome.kind === 'base64';
  }

  /** Resolves to the number of bytes taken: fewer than given when the rest cannot be base64 that is restored exactly. */
  async take(raw: Buffer): Promise<number> {
    for (let at = 0; at < raw.length; ) {
      const piece = raw.subarray(at, at + this.#nextLength);
      if (this.#outcome.kind !== 'base64') this.#count(piece);
      else if (!(await this.#takePiece(piece))) return at;
      at += piece.length;
    }
    return raw.length;
  }

  /** Resolves to the placeholder; to undefined when the string was not complete base64. */
  async finish(): Promise<string | undefined> {
    if (this.#outcome.kind === 'base64' && !isComplete(this.#text)) return undefined;
    const spill = await this.#end();
    return this.#table.keep(this.#file, spill);
  }

  /** The text taken so far; only escapes may be written differently. */
  async *original(): AsyncGenerator<Buffer> {
    if (this.#head !== undefined) yield Buffer.from(this.#head.raw);
    for await (const piece of restore(this.#text, this.#file.read())) yield Buffer.from(piece);
  }

  fail(error: unknown): Promise<void> {
    const reason = writeFailure(error) ?? messageOf(error).replace(/\.$/, '');
    return this.#giveUp({ kind: 'failed', reason });
  }

  discard(): Promise<void> {
    return this.#table.drop(this.#file);
  }

  /** A short piece completes a group of digits, so that the next one can be decoded where it is. */
  get #nextLength(): number {
    const { rest } = this.#text;
    return rest === '' || !this.isKept ? MAX_PIECE_BYTES : 4 - rest.length;
  }

  async #takePiece(piece: Buffer): Promise<boolean> {
    const read = readPiece(this.#text, piece, this.#scratch);
    if (read === undefined) return false;
    try {
      // Usually there is room; then nothing is awaited.
      const room = this.#file.reserve(SCRATCH_BYTES);
      if (room !== undefined) await room;
    } catch (error) {
      await this.fail(error);
      this.#count(piece);
      return true;
    }
    if (!this.#file.addBase64(read.digits)) return false;
    this.#text = read.text;
    if (this.#file.size > this.#table.maxBytes) await this.#giveUp({ kind: 'refused' });
    return true;
  }

  async #end(): Promise<Spill> {
    const text = this.#text;
    if (this.#outcome.kind === 'base64') {
      const size = this.#file.size + Math.floor((text.rest.length * 3) / 4);
      if (size > this.#table.maxBytes) await this.#giveUp({ kind: 'refused' });
    }
    if (this.#outcome.kind === 'base64') {
      try {
        await this.#file.reserve(SCRATCH_BYTES);
        this.#file.addBase64(text.rest);
        return this.#describe(await this.#file.finish());
      } catch (error) {
        await this.fail(error);
      }
    }
    const size = Math.floor(((text.decoded + text.rest.length + this.#trailingBytes) * 3) / 4);
    return this.#outcome.kind === 'failed' ? { ...this.#outcome, size } : { kind: 'refused', size };
  }

  #describe(file: Awaited<ReturnType<SpillFile['finish']>>): Spill {
    const { raw = '', mimeType } = this.#head ?? {};
    const text = this.#text;
    async function* pieces() {
      yield unquote(raw);
      for await (const piece of restore(text, readSpilled(file.path, (text.decoded * 3) / 4)))
        yield unquote(piece);
    }
    return { kind: 'bytes', ...file, pieces, ...(mimeType === undefined ? {} : { mimeType }) };
  }

  async #giveUp(outcome: Outcome): Promise<void> {
    this.#outcome = outcome;
    await this.#file.discard();
  }

  /** Exact for base64; everything after the first invalid piece is counted as if it were base64. */
  #count(raw: Buffer): void {
    const read = this.#trailingBytes === 0 ? readPiece(this.#text, raw, this.#scratch) : undefined;
    if (read === undefined) this.#trailingBytes += raw.length;
    else this.#text = read.text;
  }
}

function unquote(raw: string): string {
  return JSON.parse(`"${raw}"`) as string;
}

/**
 * Base64 in the raw text of a JSON string: in either alphabet, with or without padding, with escapes, wrapped in lines of
 * one length. It is read piece by piece and can be restored exactly. Immutable, so that an invalid piece has no effect.
 */
interface Base64Text {
  /** Number of digits decoded so far, a multiple of four. */
  readonly decoded: number;
  /** Up to three digits of an incomplete group. */
  readonly rest: string;
  readonly padding: number;
  readonly alphabet: 'plain' | 'url' | undefined;
  /** The raw beginning of an escape that continues in the next piece. */
  readonly escape: string;
  readonly lines: Lines;
}

interface Lines {
  /** Characters since the last line break. */
  readonly column: number;
  /** The length of all lines but the last; undefined before the first line break. */
  readonly length: number | undefined;
  readonly newline: '\n' | '\r\n' | undefined;
  /** The last character is a carriage return without its line feed. */
  readonly returned: boolean;
  /** After a shorter line, which must be the last. */
  readonly ended: boolean;
}

const EMPTY: Base64Text = {
  decoded: 0,
  rest: '',
  padding: 0,
  alphabet: undefined,
  escape: '',
  lines: { column: 0, length: undefined, newline: undefined, returned: false, ended: false },
};

/** The longest piece, in raw bytes. */
const MAX_PIECE_BYTES = 64 * 1024;
/** Room for one piece, three digits and part of an escape. */
const SCRATCH_BYTES = MAX_PIECE_BYTES + 16;

/** Encoders do not wrap shorter, and line breaks are slow to read. */
const MIN_LINE_CHARS = 16;
const ONLY_DIGITS = /^[\w+/-]*$/;
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
const [PLUS, SLASH, MINUS, UNDERSCORE] = [0x2b, 0x2f, 0x2d, 0x5f];

/**
 * Reads the next piece. Returns the new state and the digits to decode; the caller has to compare the number of decoded
 * bytes, because decoders skip invalid digits. Undefined if this is not base64 that can be restored exactly.
 */
function readPiece(
  before: Base64Text,
  raw: Buffer,
  scratch: Buffer,
): { readonly text: Base64Text; readonly digits: string } | undefined {
  const read = before.escape === '' && !raw.includes(BACKSLASH) ? readPlain : copyUnescaped;
  const copied = read(before, raw, scratch);
  if (copied === undefined) return undefined;
  const { source } = copied;
  let end = copied.end;
  while (end > before.rest.length && source[end - 1] === EQUALS) end--;
  const padding = before.padding + copied.end - end;
  // No digit may follow padding.
  if (padding > 2 || (before.padding > 0 && end > before.rest.length)) return undefined;
  const whole = end - (end % 4);
  const alphabet = alphabetOf(source.subarray(0, end), before.alphabet);
  const rest = source.toString('latin1', whole, end);
  // The rest is not decoded yet, so the caller does not check it.
  if (alphabet === 'mixed' || !ONLY_DIGITS.test(rest)) return undefined;
  const text = {
    decoded: before.decoded + whole,
    rest,
    padding,
    alphabet,
    escape: copied.escape,
    lines: copied.lines,
  };
  return { text, digits: source.toString('latin1', 0, whole) };
}

function isComplete({ rest, padding, lines, ...text }: Base64Text): boolean {
  if (text.escape !== '' || lines.returned) return false;
  return padding === 0 ? rest.length !== 1 : rest.length + padding === 4;
}

/** Restores the text, as the inside of a JSON string, from its decoded bytes in pieces of lengths divisible by three. */
async function* restore(text: Base64Text, decoded: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const { length = Number.POSITIVE_INFINITY, newline } = text.lines;
  const lineBreak = newline === undefined ? '' : JSON.stringify(newline).slice(1, -1);
  let column = 0;
  const wrap = (digits: string) => {
    let wrapped = '';
    for (let at = 0; at < digits.length; ) {
      if (column === length) {
        wrapped += lineBreak;
        column = 0;
      }
      const piece = digits.slice(at, at + length - column);
      wrapped += piece;
      column += piece.length;
      at += piece.length;
    }
    return wrapped;
  };
  for await (const bytes of decoded)
    yield wrap(bytes.toString(text.alphabet === 'url' ? 'base64url' : 'base64'));
  yield wrap(text.rest + '='.repeat(text.padding));
  // wrap() breaks a line only if more follows, so a final line break is written here.
  if (newline !== undefined && text.lines.column === 0) yield lineBreak;
  yield (text.lines.returned ? '\\r' : '') + text.escape;
}

interface Digits {
  /** The scratch buffer, or the piece itself if it can be read where it is. */
  readonly source: Buffer;
  readonly end: number;
  readonly escape: string;
  readonly lines: Lines;
}

function readPlain({ rest, lines }: Base64Text, raw: Buffer, scratch: Buffer): Digits | undefined {
  const after = advance(lines, raw.length);
  if (after === undefined) return undefined;
  if (rest === '') return { source: raw, end: raw.length, escape: '', lines: after };
  scratch.write(rest, 'latin1');
  const end = rest.length + raw.copy(scratch, rest.length);
  return { source: scratch, end, escape: '', lines: after };
}

function copyUnescaped(before: Base64Text, raw: Buffer, scratch: Buffer): Digits | undefined {
  scratch.write(before.rest, 'latin1');
  const text = before.escape === '' ? raw : Buffer.concat([Buffer.from(before.escape, 'latin1'), raw]);
  let lines: Lines | undefined = before.lines;
  let end = before.rest.length;
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf(BACKSLASH, at);
    const stop = found === -1 ? text.length : found;
    text.copy(scratch, end, at, stop);
    end += stop - at;
    lines = advance(lines, stop - at);
    if (lines === undefined || found === -1) break;
    const length = text[found + 1] === 0x75 ? 6 : 2;
    if (found + length > text.length)
      return { source: scratch, end, escape: text.toString('latin1', found), lines };
    const code = readEscape(text.toString('latin1', found + 1, found + length));
    if (code === 10 || code === 13) {
      lines = breakLine(lines, code);
    } else {
      scratch[end++] = code;
      lines = advance(lines, 1);
    }
    if (lines === undefined) return undefined;
    at = found + length;
  }
  return lines && { source: scratch, end, escape: '', lines };
}

/** The character of an escape without its backslash; 0, which is not a digit, for escapes that base64 does not need. */
function readEscape(letters: string): number {
  if (letters === 'n') return 10;
  if (letters === 'r') return 13;
  if (letters === '/') return SLASH;
  if (!/^u00[0-7][\da-f]$/i.test(letters)) return 0;
  return Number.parseInt(letters.slice(1), 16);
}

function advance(lines: Lines, count: number): Lines | undefined {
  if (count === 0) return lines;
  const column = lines.column + count;
  const wrong = lines.returned || lines.ended || (lines.length !== undefined && column > lines.length);
  return wrong ? undefined : { ...lines, column };
}

function breakLine(lines: Lines, code: 10 | 13): Lines | undefined {
  if (lines.ended || lines.column === 0) return undefined;
  if (code === 13) return lines.returned ? undefined : { ...lines, returned: true };
  const newline = lines.returned ? '\r\n' : '\n';
  if (lines.newline !== undefined && lines.newline !== newline) return undefined;
  const length = lines.length ?? lines.column;
  if (length < MIN_LINE_CHARS) return undefined;
  return { column: 0, length, newline, returned: false, ended: lines.column < length };
}

function alphabetOf(digits: Buffer, known: Base64Text['alphabet']): Base64Text['alphabet'] | 'mixed' {
  const url = known === 'url' || digits.includes(MINUS) || digits.includes(UNDERSCORE);
  const plain = known === 'plain' || digits.includes(PLUS) || digits.includes(SLASH);
  return url ? (plain ? 'mixed' : 'url') : plain ? 'plain' : undefined;
}
