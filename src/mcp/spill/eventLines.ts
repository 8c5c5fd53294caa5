/** What the lines of an event stream say, as far as a filter of their data needs to know. */
export type EventPart =
  /** Bytes of the event's data. */
  | { readonly kind: 'data'; readonly bytes: Buffer }
  /** The line of data has ended; another one may follow. */
  | { readonly kind: 'endOfData' }
  /** A whole line of another field, or a comment. */
  | { readonly kind: 'other'; readonly line: Buffer }
  /** The event is whole. */
  | { readonly kind: 'endOfEvent' };

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];
const DATA = Buffer.from('data:');
/** Other fields are short; of a longer one the rest is dropped. */
const MAX_OTHER_BYTES = 64 * 1024;

/** Splits an event stream, at any chunking, without ever holding a line of data. */
export class EventLines {
  /** The beginning of a line, until it is known to be data; then nothing. */
  #line: Buffer = Buffer.alloc(0);
  #state: 'start' | 'data' | 'firstOfData' = 'start';
  #afterReturn = false;

  *split(chunk: Buffer): Generator<EventPart> {
    let nextReturn = chunk.indexOf(CR);
    for (let at = 0; at < chunk.length; ) {
      if (this.#afterReturn) {
        this.#afterReturn = false;
        if (chunk[at] === LF) {
          at++;
          continue;
        }
      }
      if (nextReturn !== -1 && nextReturn < at) nextReturn = chunk.indexOf(CR, at);
      const feed = chunk.subarray(at, nextReturn === -1 ? chunk.length : nextReturn).indexOf(LF);
      const end = feed === -1 ? nextReturn : at + feed;
      yield* this.#take(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end === -1) return;
      yield* this.#endLine();
      this.#afterReturn = chunk[end] === CR;
      at = end + 1;
    }
  }

  *#take(bytes: Buffer): Generator<EventPart> {
    let rest = bytes;
    if (this.#state === 'start') {
      const missing = DATA.length - this.#line.length;
      if (missing <= 0 || !DATA.subarray(0, this.#line.length).equals(this.#line)) {
        this.#keep(rest);
        return;
      }
      this.#keep(rest.subarray(0, missing));
      rest = rest.subarray(missing);
      if (!this.#line.equals(DATA)) {
        this.#keep(rest);
        return;
      }
      this.#line = Buffer.alloc(0);
      this.#state = 'firstOfData';
    }
    if (rest.length === 0) return;
    if (this.#state === 'firstOfData' && rest[0] === SPACE) rest = rest.subarray(1);
    this.#state = 'data';
    if (rest.length > 0) yield { kind: 'data', bytes: rest };
  }

  #keep(bytes: Buffer): void {
    if (bytes.length > 0 && this.#line.length < MAX_OTHER_BYTES)
      this.#line = Buffer.concat([this.#line, bytes]);
  }

  *#endLine(): Generator<EventPart> {
    const [state, line] = [this.#state, this.#line];
    this.#state = 'start';
    this.#line = Buffer.alloc(0);
    if (state !== 'start') yield { kind: 'endOfData' };
    else if (line.length === 0) yield { kind: 'endOfEvent' };
    else yield { kind: 'other', line };
  }
}
