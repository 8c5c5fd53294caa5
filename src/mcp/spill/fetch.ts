import type { FetchLike } from '@modelcontextprotocol/client';
import { Arrival, type PendingRequests, tooLargeAnswer } from './calls.ts';
import { type FilteredMessage, JsonFilter, MAX_DROPPED_BYTES, MAX_MESSAGE_BYTES } from './jsonFilter.ts';

export interface SpillingFetchOptions {
  readonly calls: PendingRequests;
  readonly minSpilledChars?: number | undefined;
  readonly maxMessageBytes?: number | undefined;
  readonly maxDroppedBytes?: number | undefined;
}

type Body = ReadableStreamDefaultReader<Uint8Array>;
type Filter = (body: Body, options: SpillingFetchOptions) => AsyncGenerator<Buffer>;

const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ['application/json', filterJson],
  ['text/event-stream', filterEvents],
]);
const NEWLINE = Buffer.from('\n');

/** A `fetch` whose answers come with their long base64 strings in files, and placeholders in their place. */
export function createSpillingFetch(options: SpillingFetchOptions): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    const filter = FILTERS.get(type);
    if (!response.ok || response.body === null || filter === undefined) return response;
    return withBody(response, filterBody(response.body, filter, options));
  };
}

function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const headers = new Headers(response.headers);
  // `fetch` has decoded the body already, and it gets shorter.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const { status, statusText, url, redirected } = response;
  const filtered = new Response(body, { status, statusText, headers });
  return Object.defineProperties(filtered, { url: { value: url }, redirected: { value: redirected } });
}

function filterBody(
  body: ReadableStream<Uint8Array>,
  filter: Filter,
  options: SpillingFetchOptions,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const filtered = filter(reader, options);
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await filtered.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => {
      // Ends the read that the filter may be waiting for, and so the filter.
      await reader.cancel(reason);
      await filtered.return(undefined);
    },
  });
}

async function* filterJson(body: Body, options: SpillingFetchOptions): AsyncGenerator<Buffer> {
  const filter = new JsonFilter({ ...options, tables: options.calls });
  const arrival = new Arrival(options.calls, () => filter.id);
  try {
    for await (const chunk of chunksOf(body)) {
      await filter.push(chunk);
      arrival.add(chunk.length);
      mindEnd(filter, options);
    }
    yield textOf(await filter.end(), options);
  } finally {
    arrival.end();
    await filter.abort();
  }
}

async function* filterEvents(body: Body, options: SpillingFetchOptions): AsyncGenerator<Buffer> {
  const filter = new JsonFilter({ ...options, tables: options.calls });
  const arrival = new Arrival(options.calls, () => filter.id);
  const lines = new EventLines();
  let hasData = false;
  try {
    for await (const chunk of chunksOf(body)) {
      for (const part of lines.split(chunk)) {
        if (part.kind === 'data') {
          await filter.push(part.bytes);
          arrival.add(part.bytes.length);
          mindEnd(filter, options);
        } else if (part.kind === 'endOfData') {
          hasData = true;
          await filter.push(NEWLINE);
        } else if (part.kind === 'other') {
          yield Buffer.concat([part.line, NEWLINE]);
        } else {
          yield hasData ? eventOf(textOf(await filter.end(), options)) : NEWLINE;
          hasData = false;
          arrival.end();
          // The protocol layer handles notifications a moment later, and answers at once: without a break, the
          // last progress of a call would be told after its end.
          await new Promise(setImmediate);
        }
      }
    }
  } finally {
    arrival.end();
    await filter.abort();
  }
}

/** The message as lines of data, which have no line breaks in them, and the end of the event. */
function eventOf(message: Buffer): Buffer {
  const text = message.toString('utf8').replace(/\n$/, '');
  return Buffer.from(`data: ${text.replaceAll('\n', '\ndata: ')}\n\n`);
}

function textOf(
  filtered: FilteredMessage,
  { calls, maxMessageBytes = MAX_MESSAGE_BYTES }: SpillingFetchOptions,
): Buffer {
  if (filtered.kind === 'message') return filtered.json;
  const id = filtered.id ?? calls.only;
  if (id === undefined) throw new Error(`A message of more than ${maxMessageBytes} bytes was dropped.`);
  return Buffer.from(JSON.stringify(tooLargeAnswer(id, maxMessageBytes)));
}

function mindEnd(filter: JsonFilter, { maxDroppedBytes = MAX_DROPPED_BYTES }: SpillingFetchOptions): void {
  if (filter.dropped > maxDroppedBytes) throw new Error('it sent a message without an end');
}

async function* chunksOf(body: Body): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (done) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  } finally {
    // After an error of ours nothing more is wanted; after the end this does nothing.
    await body.cancel().catch(() => undefined);
  }
}

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
