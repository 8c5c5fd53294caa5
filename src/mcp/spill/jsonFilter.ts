import { JsonPosition } from './jsonPlace.ts';
import { MAX_DATA_URL_HEAD_CHARS, readDataUrlHead, StringSpill } from './string.ts';
import type { SpillTable } from './table.ts';

/** A string longer than this that may be base64 goes to a file. */
export const MIN_SPILLED_CHARS = 64 * 1024;
/** The most text that a message may have besides its files. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** A message of which this much was thrown away will not end any more. */
export const MAX_DROPPED_BYTES = 1024 * 1024 * 1024;
/** A string whose beginning is no base64 is not looked at further. */
const PROBE_CHARS = 256;
const MAYBE_BASE64 = /^(?:[\w+/=-]|\\(?:[nr/]|u00[0-7][\da-f]|u?[\da-f]{0,3}$))*$/i;
const MAYBE_DATA_URL = /^(?:d|da|dat|data|data:[^,]*)$/i;
/** Keys of the message and its id are shorter. */
const MAX_KEPT_CHARS = 64;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** Where the long strings of messages go. */
export interface SpillTables {
  /** The table for the answer to this request; the id is not known when it has not come yet. */
  tableFor(id: number | undefined): SpillTable | undefined;
  /** Called when the id has come after strings that went to a table of nobody's. */
  assign(id: number | undefined, table: SpillTable): Promise<void>;
}

export interface JsonFilterOptions {
  readonly tables: SpillTables;
  readonly minSpilledChars?: number | undefined;
  readonly maxMessageBytes?: number | undefined;
}

export type FilteredMessage =
  | { readonly kind: 'message'; readonly json: Buffer }
  | { readonly kind: 'tooLarge'; readonly id: number | undefined };

type InString = 'short' | 'passed';

/**
 * Takes the bytes of one JSON message after the other, at any chunking, and gives each back with its long base64
 * strings replaced by placeholders; they are in files then. Everything else comes out as it came in.
 */
export class JsonFilter {
  readonly #tables: SpillTables;
  readonly #minSpilledChars: number;
  readonly #out: ByteList;
  readonly #place = new JsonPosition((id) => this.#endOfMessage(id));
  /** Nothing outside of strings. A `short` string may still become a spilled one. */
  #string: InString | StringSpill | undefined;
  /** Where the string under way begins in the output. */
  #start = 0;
  #escaped = false;
  /** The text of the string under way, as far as it matters to the place. */
  #text: string | undefined;
  /** A table for strings of a message whose id has not come yet. */
  #nobodys: SpillTable | undefined;
  #assigning: Promise<void>[] = [];
  #dropped = 0;
  #lastId: number | undefined;

  constructor({ tables, minSpilledChars, maxMessageBytes }: JsonFilterOptions) {
    this.#tables = tables;
    this.#minSpilledChars = minSpilledChars ?? MIN_SPILLED_CHARS;
    this.#out = new ByteList(maxMessageBytes ?? MAX_MESSAGE_BYTES);
  }

  /** How many bytes of the message under way were neither spilled nor kept in memory. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Of the message under way, once it has come. */
  get id(): number | undefined {
    return this.#place.id;
  }

  async push(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#string === undefined) {
        at = this.#passStructure(chunk, at);
      } else {
        const passed = this.#passString(chunk, at);
        at = typeof passed === 'number' ? passed : await passed;
      }
    }
  }

  /** Ends the message. What follows is the next one. */
  async end(): Promise<FilteredMessage> {
    if (this.#string instanceof StringSpill) await this.#restore(this.#string);
    if (this.#nobodys !== undefined) this.#endOfMessage(this.#place.id);
    await Promise.all(this.#assigning);
    const id = this.#lastId ?? this.#place.id;
    const filtered: FilteredMessage = this.#out.overflown
      ? { kind: 'tooLarge', id }
      : { kind: 'message', json: this.#out.take() };
    this.#reset();
    return filtered;
  }

  /** Forgets the message under way and removes what was spilled of its last string. */
  async abort(): Promise<void> {
    const [string, nobodys] = [this.#string, this.#nobodys];
    this.#reset();
    if (string instanceof StringSpill) await string.discard();
    await nobodys?.dispose();
  }

  #reset(): void {
    this.#out.take();
    this.#place.reset();
    this.#string = undefined;
    this.#escaped = false;
    this.#text = undefined;
    this.#nobodys = undefined;
    this.#assigning = [];
    this.#dropped = 0;
    this.#lastId = undefined;
  }

  #endOfMessage(id: number | undefined): void {
    this.#lastId = id;
    if (this.#nobodys !== undefined) this.#assigning.push(this.#tables.assign(id, this.#nobodys));
    this.#nobodys = undefined;
  }

  #emit(bytes: Buffer): void {
    this.#out.append(bytes);
    if (this.#out.overflown) this.#dropped += bytes.length;
  }

  #passStructure(chunk: Buffer, from: number): number {
    const { at, opened } = this.#place.moveToString(chunk, from);
    this.#emit(chunk.subarray(from, at));
    if (opened) {
      this.#string = this.#place.isResultValue ? 'short' : 'passed';
      this.#text = this.#place.wantsText ? '' : undefined;
      this.#start = this.#out.length;
    }
    return at;
  }

  #passString(chunk: Buffer, from: number): number | Promise<number> {
    const end = this.#findEnd(chunk, from);
    const ended = end < chunk.length;
    if (this.#string instanceof StringSpill) return this.#passSpilled(chunk, from, end);
    this.#emit(chunk.subarray(from, end));
    if (this.#text !== undefined && this.#text.length < MAX_KEPT_CHARS) {
      this.#text += chunk.toString('latin1', from, Math.min(end, from + MAX_KEPT_CHARS));
    }
    if (this.#string === 'short' && this.#isLong() && !this.#out.overflown) return this.#begin(chunk, end);
    if (ended) this.#close(chunk.subarray(end, end + 1));
    return end + 1;
  }

  /** Where the string ends: at its quote, or at the end of the chunk. */
  #findEnd(chunk: Buffer, from: number): number {
    let start = this.#escaped ? from + 1 : from;
    for (;;) {
      const quote = chunk.indexOf(QUOTE, start);
      const stop = quote === -1 ? chunk.length : quote;
      let slashes = 0;
      while (stop - slashes > start && chunk[stop - slashes - 1] === BACKSLASH) slashes++;
      const odd = slashes % 2 === 1;
      this.#escaped = quote === -1 && odd;
      if (quote === -1 || !odd) return stop;
      start = quote + 1;
    }
  }

  #close(quote: Buffer): void {
    if (this.#text !== undefined) this.#place.takeText(this.#text);
    this.#emit(quote);
    this.#string = undefined;
    this.#text = undefined;
  }

  /** Long enough to be judged. */
  #isLong(): boolean {
    const length = this.#out.length - this.#start;
    if (length <= this.#minSpilledChars) return false;
    if (length > MAX_DATA_URL_HEAD_CHARS) return true;
    return !MAYBE_DATA_URL.test(this.#out.from(this.#start).toString('latin1'));
  }

  /** Begins to spill what has come of a string, if it may be base64. */
  async #begin(chunk: Buffer, end: number): Promise<number> {
    const ended = end < chunk.length;
    this.#string = 'passed';
    const raw = this.#out.from(this.#start);
    const head = readDataUrlHead(raw);
    const body = raw.subarray(head?.raw.length ?? 0);
    const table = MAYBE_BASE64.test(body.toString('latin1', 0, PROBE_CHARS))
      ? this.#chooseTable()
      : undefined;
    if (table !== undefined) {
      const spill = new StringSpill(table, head);
      // A view of the output, which does not change before it is taken.
      const taken = await spill.take(body);
      if (taken === body.length) {
        this.#string = spill;
        this.#out.truncate(this.#start);
        return this.#passSpilled(chunk, end, end);
      }
      await spill.discard();
    }
    if (ended) this.#close(chunk.subarray(end, end + 1));
    return end + 1;
  }

  #chooseTable(): SpillTable | undefined {
    const { id } = this.#place;
    if (id !== undefined) return this.#tables.tableFor(id);
    this.#nobodys ??= this.#tables.tableFor(undefined);
    return this.#nobodys;
  }

  async #passSpilled(chunk: Buffer, from: number, end: number): Promise<number> {
    const spill = this.#string as StringSpill;
    const raw = chunk.subarray(from, end);
    const taken = await spill.take(raw);
    if (!spill.isKept) this.#dropped += raw.length;
    if (taken < raw.length) {
      await this.#restore(spill);
      if (this.#string === spill) return from + taken;
      this.#emit(raw.subarray(taken));
    }
    if (end === chunk.length) return end;
    if (this.#string === spill) await this.#finish(spill);
    this.#close(chunk.subarray(end, end + 1));
    return end + 1;
  }

  async #finish(spill: StringSpill): Promise<void> {
    let placeholder = await spill.finish();
    if (placeholder === undefined) {
      await this.#restore(spill);
      if (this.#string !== spill) return;
      placeholder = await spill.finish();
    }
    this.#emit(Buffer.from(placeholder ?? ''));
  }

  /** Puts the text of a string back that was no base64 after all. The spill stays if its file cannot be read. */
  async #restore(spill: StringSpill): Promise<void> {
    try {
      for await (const piece of spill.original()) this.#emit(Buffer.from(piece, 'latin1'));
      this.#string = 'passed';
      await spill.discard();
    } catch (error) {
      this.#out.truncate(this.#start);
      await spill.fail(error);
    }
  }
}

const FIRST_BYTES = 4 * 1024;

/** Bytes that grow at their end, up to a limit; beyond it everything is dropped, what is there and what comes. */
class ByteList {
  readonly #maxBytes: number;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #overflown = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  get overflown(): boolean {
    return this.#overflown;
  }

  append(bytes: Buffer): void {
    if (this.#overflown) return;
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) {
      this.#overflown = true;
      this.#bytes = Buffer.alloc(0);
      this.#length = 0;
      return;
    }
    if (length > this.#bytes.length) this.#grow(length);
    // Copied, because a view would keep the whole chunk of the stream alive.
    bytes.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  /** A view, good until the next change. */
  from(start: number): Buffer {
    return this.#bytes.subarray(start, this.#length);
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Hands all of it over and starts anew. */
  take(): Buffer {
    const taken = this.from(0);
    this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.#length = 0;
    this.#overflown = false;
    return taken;
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
