import { createHash } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import { writeFailure } from '../../base/fileErrors.ts';
import type { Spill } from '../../ports/results.ts';
import { readSpilled, type SpillFile, type SpillTable } from './spillFiles.ts';

/** A piece of this size fits into the buffer of a file. */
const MAX_PIECE_BYTES = 64 * 1024;
const PREVIEW_CHARS = 500;
const BACKSLASH = 0x5c;
const CUT_CHARACTER = /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$/;
const HIGH_SURROGATE = /^\\ud[89ab][\da-f]{2}$/i;

/** One long text on its way to a file, as UTF-8. Takes the raw inside of a JSON string piece by piece, like `StringSpill`. */
export class TextSpill {
  readonly #table: SpillTable;
  readonly #file: SpillFile;
  readonly #hash = createHash('sha256');
  /** The raw beginning of a character that continues in the next piece. */
  #rest: Buffer = Buffer.alloc(0);
  /** Shown when the text cannot be written. */
  #preview = '';
  #failure: string | undefined;
  #takenBytes = 0;

  constructor(table: SpillTable) {
    this.#table = table;
    this.#file = table.begin();
  }

  /** False once the text is only counted. */
  get isKept(): boolean {
    return this.#failure === undefined;
  }

  /** Of the raw text. */
  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** Resolves to the number of bytes taken: fewer than given when the rest is not JSON or not valid UTF-8. */
  async take(raw: Buffer): Promise<number> {
    for (let at = 0; at < raw.length && this.isKept; at += MAX_PIECE_BYTES) {
      const next = raw.subarray(at, at + MAX_PIECE_BYTES);
      const piece = this.#rest.length === 0 ? next : Buffer.concat([this.#rest, next]);
      const end = endOfWhole(piece);
      const text = unquote(piece.toString('utf8', 0, end));
      if (text === undefined) return at;
      this.#preview ||= `${text.slice(0, PREVIEW_CHARS).toWellFormed()}…`;
      await this.#add(Buffer.from(text));
      this.#rest = Buffer.from(piece.subarray(end));
      this.#takenBytes += next.length;
    }
    return raw.length;
  }

  /** Resolves to the placeholder; to undefined when the string ends in the middle of a character. */
  async finish(): Promise<string | undefined> {
    if (this.isKept && this.#rest.length > 0) return undefined;
    return this.#table.keep(this.#file, await this.#end());
  }

  /** The text taken so far; only escapes may be written differently. */
  async *original(): AsyncGenerator<Buffer> {
    for await (const text of decoded(this.#file.read())) yield Buffer.from(JSON.stringify(text).slice(1, -1));
    yield this.#rest;
  }

  async fail(error: unknown): Promise<void> {
    this.#failure = writeFailure(error) ?? messageOf(error).replace(/\.$/, '');
    await this.#file.discard();
  }

  discard(): Promise<void> {
    return this.#table.drop(this.#file);
  }

  async #add(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    await this.#file.add(bytes).catch((error: unknown) => this.fail(error));
  }

  async #end(): Promise<Spill> {
    const file = this.isKept
      ? await this.#file.finish().catch((error: unknown) => void this.fail(error))
      : undefined;
    const { size } = this.#file;
    if (file === undefined)
      return { kind: 'failed', size, reason: this.#failure ?? '', preview: this.#preview };
    const pieces = () => decoded(readSpilled(file.path, size));
    return { kind: 'bytes', ...file, pieces, textHash: this.#hash.digest('hex') };
  }
}

async function* decoded(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
}

/** Undefined for an invalid escape, and for half a character. */
function unquote(raw: string): string | undefined {
  try {
    const text = JSON.parse(`"${raw}"`) as string;
    return text.isWellFormed() ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The length without the beginning of a character or an escape at the end. */
function endOfWhole(raw: Buffer): number {
  const cut = CUT_CHARACTER.exec(raw.toString('latin1', Math.max(0, raw.length - 3)));
  if (cut) return raw.length - cut[0].length;
  const slash = raw.lastIndexOf(BACKSLASH);
  if (slash < 0 || slash < raw.length - 6 || !opensEscape(raw, slash)) return raw.length;
  const isCut = slash + (raw[slash + 1] === 0x75 ? 6 : 2) > raw.length;
  if (!isCut) return slash + 6 === raw.length && isHighSurrogate(raw, slash) ? slash : raw.length;
  return isHighSurrogate(raw, slash - 6) ? slash - 6 : slash;
}

function isHighSurrogate(raw: Buffer, at: number): boolean {
  return at >= 0 && HIGH_SURROGATE.test(raw.toString('latin1', at, at + 6)) && opensEscape(raw, at);
}

function opensEscape(raw: Buffer, at: number): boolean {
  let before = at;
  while (raw[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}
