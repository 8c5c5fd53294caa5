import { messageOf, writeFailure } from '../../base/errors.ts';
import type { Spill } from '../../ports/results.ts';
import {
  type Base64Text,
  EMPTY,
  isComplete,
  MAX_PIECE_BYTES,
  readPiece,
  restore,
  SCRATCH_BYTES,
} from './base64Text.ts';
import { readSpilled, type SpillFile } from './file.ts';
import type { SpillTable } from './table.ts';

/** The part of a data: URL before the base64, as raw JSON text. */
export interface DataUrlHead {
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
    for (let at = 0; at < raw.length; at += MAX_PIECE_BYTES) {
      const piece = raw.subarray(at, at + MAX_PIECE_BYTES);
      if (this.#outcome.kind !== 'base64') this.#count(piece);
      else if (!(await this.#takePiece(piece))) return at;
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
  async *original(): AsyncGenerator<string> {
    if (this.#head !== undefined) yield this.#head.raw;
    yield* restore(this.#text, this.#file.read());
  }

  fail(error: unknown): Promise<void> {
    return this.#giveUp({ kind: 'failed', reason: writeFailure(error) ?? messageOf(error) });
  }

  discard(): Promise<void> {
    return this.#table.drop(this.#file);
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
    const original = async () => {
      const pieces = [raw];
      for await (const piece of restore(text, readSpilled(file.path, (text.decoded * 3) / 4)))
        pieces.push(piece);
      return unquote(pieces.join(''));
    };
    return { kind: 'bytes', ...file, original, ...(mimeType === undefined ? {} : { mimeType }) };
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
