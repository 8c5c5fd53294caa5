import { Throttle } from '../../base/async.ts';
import { BUDGET } from '../../base/budget.ts';
import { MAX_DATA_URL_HEAD_CHARS, readDataUrlHead, StringSpill } from './base64String.ts';
import { JsonPosition } from './jsonPosition.ts';
import type { PendingRequests } from './pendingRequests.ts';
import type { SpillTable } from './spillFiles.ts';
import { TextSpill } from './textString.ts';

/** A longer string goes to a file if it can be base64. */
const MIN_SPILLED_CHARS = 64 * 1024;
/** A longer string goes to a file as text. */
const MIN_SPILLED_TEXT_CHARS = 1024 * 1024;
/** Shorter responses arrive at once; their size is not reported. */
const MIN_REPORTED_BYTES = 1_000_000;
const REPORT_EVERY_MS = 250;
/** The beginning of a string decides whether it can be base64. */
const PROBE_CHARS = 256;
const MAYBE_BASE64 = /^(?:[\w+/=-]|\\(?:[nr/]|u00[0-7][\da-f]|u?[\da-f]{0,3}$))*$/i;
const MAYBE_DATA_URL = /^(?:d|da|dat|data|data:[^,]*)$/i;
/** Keys and ids of messages are shorter. */
const MAX_KEPT_CHARS = 64;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];

export type FilterRequests = Pick<
  PendingRequests,
  'tableFor' | 'assign' | 'arrived' | 'tooLarge' | 'dropped' | 'maxValues' | 'maxDroppedBytes'
>;

/**
 * Takes the bytes of one JSON message after the other, at any chunking, and returns each with its long base64 strings
 * moved to files and replaced by placeholders, and very long ones of text too. Everything else is unchanged.
 */
export class JsonFilter {
  readonly #requests: FilterRequests;
  readonly #minSpilledChars: number;
  readonly #minSpilledTextChars: number;
  readonly #out = new ByteList(BUDGET.messageBytes);
  readonly #position = new JsonPosition((id) => this.#endOfMessage(id));
  readonly #progress = new Throttle(REPORT_EVERY_MS);
  /** Undefined outside of strings. A `short` string may still be spilled, a `text` as text; a `passed` one is not. */
  #string: 'short' | 'text' | 'passed' | StringSpill | TextSpill | undefined;
  #start = 0;
  #escaped = false;
  /** The text of the current string if the position needs it. */
  #text: string | undefined;
  #isKey = false;
  /** Spilled strings of the current message, until its id is known. */
  #unassigned: SpillTable | undefined;
  #assigning: Promise<void>[] = [];
  #received = 0;
  /** Bytes of the current message that were neither spilled nor kept in memory. */
  #dropped = 0;
  #lastId: number | undefined;

  constructor(
    requests: FilterRequests,
    minSpilledChars = MIN_SPILLED_CHARS,
    minSpilledTextChars = MIN_SPILLED_TEXT_CHARS,
  ) {
    this.#requests = requests;
    this.#minSpilledChars = minSpilledChars;
    this.#minSpilledTextChars = minSpilledTextChars;
  }

  get exceedsDropLimit(): boolean {
    return this.#dropped > this.#requests.maxDroppedBytes;
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
    this.#received += chunk.length;
    if (!this.#position.isInResult) return;
    const isLong = () => this.#received >= MIN_REPORTED_BYTES;
    // A separate throttle key, so that the first size is reported at once.
    this.#progress.run(isLong() ? 'long' : 'short', () =>
      this.#requests.arrived(this.#position.id, isLong() ? this.#received : 0),
    );
  }

  /** Ends the current message and resolves to its JSON. Rejects if it is too large and its request is unknown. */
  async end(): Promise<Buffer> {
    if (typeof this.#string === 'object') await this.#restore(this.#string);
    if (this.#unassigned !== undefined) this.#endOfMessage(this.#position.id);
    await Promise.all(this.#assigning);
    const id = this.#lastId ?? this.#position.id;
    const [isTooLarge, isFromServer] = [this.#out.isOverflowing, this.#position.isFromServer];
    const json = this.#out.take();
    this.#reset();
    if (!isTooLarge) return json;
    return isFromServer ? this.#requests.dropped() : this.#requests.tooLarge(id);
  }

  /** Drops the current message and removes its unfinished file. */
  async abort(): Promise<void> {
    const [string, unassigned] = [this.#string, this.#unassigned];
    this.#reset();
    if (typeof string === 'object') await string.discard();
    await unassigned?.dispose();
  }

  #reset(): void {
    this.#out.take();
    this.#position.reset();
    this.#progress.dispose();
    this.#string = undefined;
    this.#escaped = false;
    this.#text = undefined;
    this.#unassigned = undefined;
    this.#assigning = [];
    this.#received = 0;
    this.#dropped = 0;
    this.#lastId = undefined;
  }

  #endOfMessage(id: number | undefined): void {
    this.#lastId = id;
    if (this.#unassigned) this.#assigning.push(this.#requests.assign(id, this.#unassigned));
    this.#unassigned = undefined;
  }

  #emit(bytes: Buffer): void {
    this.#out.append(bytes);
    if (this.#out.isOverflowing) this.#dropped += bytes.length;
  }

  #passStructure(chunk: Buffer, from: number): number {
    const { at, opened } = this.#position.moveToString(chunk, from);
    const { values, valuesOutsideResults, keys, id } = this.#position;
    if (values > BUDGET.requestValues && values > this.#requests.maxValues(id)) this.#out.overflow();
    if (valuesOutsideResults > BUDGET.requestValues) this.#out.overflow();
    if (keys > BUDGET.messageKeys) this.#out.overflow();
    this.#emit(chunk.subarray(from, at));
    if (opened) {
      this.#string = this.#position.isResultValue ? 'short' : 'passed';
      this.#text = this.#position.needsText ? '' : undefined;
      this.#isKey = this.#position.isKey;
      this.#start = this.#out.length;
    }
    return at;
  }

  #passString(chunk: Buffer, from: number): number | Promise<number> {
    const end = this.#findEnd(chunk, from);
    const ended = end < chunk.length;
    if (typeof this.#string === 'object') return this.#passSpilled(this.#string, chunk, { from, end });
    this.#emit(chunk.subarray(from, end));
    if (this.#isKey) this.#position.takeKey(chunk, from, end);
    if (this.#text !== undefined && this.#text.length < MAX_KEPT_CHARS) {
      this.#text += chunk.toString('latin1', from, Math.min(end, from + MAX_KEPT_CHARS));
    }
    if (this.#isLong() && !this.#out.isOverflowing) return this.#begin(chunk, end);
    if (ended) this.#close(chunk.subarray(end, end + 1));
    return end + 1;
  }

  /** The end of the string: its closing quote, or the end of the chunk. */
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
    if (this.#text !== undefined) this.#position.takeText(this.#text);
    if (this.#isKey) this.#position.endKey();
    this.#emit(quote);
    this.#string = undefined;
    this.#text = undefined;
  }

  #isLong(): boolean {
    const length = this.#out.length - this.#start;
    if (this.#string === 'text') return length > this.#minSpilledTextChars;
    if (this.#string !== 'short' || length <= this.#minSpilledChars) return false;
    if (length > MAX_DATA_URL_HEAD_CHARS) return true;
    return !MAYBE_DATA_URL.test(this.#out.from(this.#start).toString('latin1'));
  }

  /** Begins to spill the current string if it can be base64, or if it is a very long text. */
  async #begin(chunk: Buffer, end: number): Promise<number> {
    const ended = end < chunk.length;
    const isText = this.#string === 'text';
    this.#string = isText ? 'passed' : 'text';
    const raw = this.#out.from(this.#start);
    const head = isText ? undefined : readDataUrlHead(raw);
    const body = raw.subarray(head?.raw.length ?? 0);
    const canSpill = isText || MAYBE_BASE64.test(body.toString('latin1', 0, PROBE_CHARS));
    const table = canSpill ? this.#chooseTable() : undefined;
    if (table !== undefined) {
      const spill = isText ? new TextSpill(table) : new StringSpill(table, head);
      // A view of the output, which does not change until take() resolves.
      const taken = await spill.take(body);
      if (taken === body.length) {
        this.#string = spill;
        this.#out.truncate(this.#start);
        if (isText) this.#out.reserve(body.length);
        return this.#passSpilled(spill, chunk, { from: end, end });
      }
      await spill.discard();
    }
    if (ended) this.#close(chunk.subarray(end, end + 1));
    return end + 1;
  }

  #chooseTable(): SpillTable | undefined {
    const { id } = this.#position;
    if (id !== undefined) return this.#requests.tableFor(id);
    this.#unassigned ??= this.#requests.tableFor(undefined);
    return this.#unassigned;
  }

  async #passSpilled(
    spill: StringSpill | TextSpill,
    chunk: Buffer,
    { from, end }: { readonly from: number; readonly end: number },
  ): Promise<number> {
    const raw = chunk.subarray(from, end);
    const taken = await spill.take(raw);
    if (!spill.isKept) this.#dropped += raw.length;
    // Text is limited like the rest of the message.
    if (spill instanceof TextSpill) this.#out.reserve(taken);
    if (this.#out.isOverflowing) {
      await spill.discard();
      this.#string = 'passed';
    }
    if (taken < raw.length) {
      if (this.#string === spill) await this.#restore(spill);
      if (this.#string === spill) return from + taken;
      this.#emit(raw.subarray(taken));
    }
    if (end === chunk.length) return end;
    if (this.#string === spill) await this.#finish(spill);
    this.#close(chunk.subarray(end, end + 1));
    return end + 1;
  }

  async #finish(spill: StringSpill | TextSpill): Promise<void> {
    let placeholder = await spill.finish();
    if (placeholder === undefined) {
      await this.#restore(spill);
      if (this.#string !== spill) return;
      placeholder = await spill.finish();
    }
    this.#emit(Buffer.from(placeholder ?? ''));
  }

  /** Writes back the text of a string that is not base64 after all. Keeps the spill if its file cannot be read. */
  async #restore(spill: StringSpill | TextSpill): Promise<void> {
    try {
      if (spill instanceof TextSpill) this.#out.reserve(-spill.takenBytes);
      for await (const piece of spill.original()) this.#emit(piece);
      this.#string = spill instanceof TextSpill ? 'passed' : 'text';
      await spill.discard();
    } catch (error) {
      this.#out.truncate(this.#start);
      await spill.fail(error);
    }
  }
}

const FIRST_BYTES = 4 * 1024;

/** A growing buffer. After exceeding its limit, it discards its content and everything appended. */
class ByteList {
  readonly #maxBytes: number;
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #reserved = 0;
  #isOverflowing = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return this.#length;
  }

  get isOverflowing(): boolean {
    return this.#isOverflowing;
  }

  /** Counts bytes that are kept elsewhere. */
  reserve(bytes: number): void {
    this.#reserved += bytes;
    if (this.#length + this.#reserved > this.#maxBytes) this.overflow();
  }

  append(bytes: Buffer): void {
    if (this.#isOverflowing) return;
    const length = this.#length + bytes.length;
    if (length + this.#reserved > this.#maxBytes) {
      this.overflow();
      return;
    }
    if (length > this.#bytes.length) this.#grow(length);
    // Copied, because a view would keep the whole chunk of the stream alive.
    bytes.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  overflow(): void {
    this.#isOverflowing = true;
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }

  /** A view, valid until the next change. */
  from(start: number): Buffer {
    return this.#bytes.subarray(start, this.#length);
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Returns all bytes and resets the buffer. */
  take(): Buffer {
    const taken = this.from(0);
    this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.#length = 0;
    this.#reserved = 0;
    this.#isOverflowing = false;
    return taken;
  }

  #grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
