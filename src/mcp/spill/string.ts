import { messageOf, writeFailure } from '../../base/errors.ts';
import type { Spill } from '../../ports/results.ts';
import {
  type Base64Text,
  EMPTY,
  isComplete,
  MAX_PIECE_BYTES,
  readPiece,
  SCRATCH_BYTES,
  writeAgain,
} from './base64Text.ts';
import { readSpilled, type SpillFile } from './file.ts';
import type { SpillTable } from './table.ts';

/** What stands before the base64 in a data: URL, as raw JSON text. */
export interface DataUrlHead {
  readonly raw: string;
  readonly mimeType?: string;
}

type Fate =
  | { readonly kind: 'base64' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: string };

/** More than this many characters are never looked at for the head of a data: URL. */
export const MAX_DATA_URL_HEAD_CHARS = 320;
const DATA_URL_HEAD = /^data:((?:[^,;"\\]|\\\/|\\u002f)*)(?:;(?:[^,;"\\]|\\\/)*)*;base64,/i;

/** Nothing when the raw text does not begin as a data: URL with base64 in it. */
export function readDataUrlHead(raw: Buffer): DataUrlHead | undefined {
  const found = DATA_URL_HEAD.exec(raw.toString('latin1', 0, MAX_DATA_URL_HEAD_CHARS));
  if (found === null || !/^[\x20-\x7e]*$/.test(found[0])) return undefined;
  const [head, rawType = ''] = found;
  const mimeType = unquote(rawType);
  return mimeType ? { raw: head, mimeType } : { raw: head };
}

/** One long string on its way to a file. It gets the inside of a JSON string, raw, piece by piece. */
export class StringSpill {
  readonly #table: SpillTable;
  readonly #head: DataUrlHead | undefined;
  readonly #file: SpillFile;
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  #text: Base64Text = EMPTY;
  #fate: Fate = { kind: 'base64' };
  /** Bytes that came after the base64 of a string of which nothing is kept. */
  #uncounted = 0;

  constructor(table: SpillTable, head: DataUrlHead | undefined) {
    this.#table = table;
    this.#head = head;
    this.#file = table.begin();
  }

  /** True while what comes is kept, and not only counted. */
  get isKept(): boolean {
    return this.#fate.kind === 'base64';
  }

  /** Resolves to how much was taken: less than all when what follows shows that this is no base64 of a known kind. */
  async take(raw: Buffer): Promise<number> {
    this.#table.onArrival?.();
    for (let at = 0; at < raw.length; at += MAX_PIECE_BYTES) {
      const piece = raw.subarray(at, at + MAX_PIECE_BYTES);
      if (this.#fate.kind !== 'base64') this.#count(piece);
      else if (!(await this.#takePiece(piece))) return at;
    }
    return raw.length;
  }

  /** Resolves to the placeholder, or to nothing when the string was not whole base64. */
  async finish(): Promise<string | undefined> {
    if (this.#fate.kind === 'base64' && !isComplete(this.#text)) return undefined;
    const spill = await this.#end();
    return this.#table.keep(this.#file, spill);
  }

  /** What was taken, as it came but for escapes. */
  async *original(): AsyncGenerator<string> {
    if (this.#head !== undefined) yield this.#head.raw;
    yield* writeAgain(this.#text, this.#file.read());
  }

  /** Keeps nothing of the string, because what was kept cannot be read. */
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
      // Not awaited when there is room, which is nearly always.
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
    if (this.#fate.kind === 'base64') {
      const size = this.#file.size + Math.floor((text.rest.length * 3) / 4);
      if (size > this.#table.maxBytes) await this.#giveUp({ kind: 'refused' });
    }
    if (this.#fate.kind === 'base64') {
      try {
        await this.#file.reserve(SCRATCH_BYTES);
        this.#file.addBase64(text.rest);
        return this.#describe(await this.#file.finish());
      } catch (error) {
        await this.fail(error);
      }
    }
    const size = Math.floor(((text.decoded + text.rest.length + this.#uncounted) * 3) / 4);
    return this.#fate.kind === 'failed' ? { ...this.#fate, size } : { kind: 'refused', size };
  }

  #describe(file: Awaited<ReturnType<SpillFile['finish']>>): Spill {
    const { raw = '', mimeType } = this.#head ?? {};
    const text = this.#text;
    const original = async () => {
      const pieces = [raw];
      for await (const piece of writeAgain(text, readSpilled(file.path, (text.decoded * 3) / 4)))
        pieces.push(piece);
      return unquote(pieces.join(''));
    };
    return { kind: 'bytes', ...file, original, ...(mimeType === undefined ? {} : { mimeType }) };
  }

  async #giveUp(fate: Fate): Promise<void> {
    this.#fate = fate;
    await this.#file.discard();
  }

  /** Exact for base64. What follows the first thing that is none is counted as if it were. */
  #count(raw: Buffer): void {
    const read = this.#uncounted === 0 ? readPiece(this.#text, raw, this.#scratch) : undefined;
    if (read === undefined) this.#uncounted += raw.length;
    else this.#text = read.text;
  }
}

function unquote(raw: string): string {
  return JSON.parse(`"${raw}"`) as string;
}
