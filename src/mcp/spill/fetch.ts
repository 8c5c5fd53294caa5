import type { FetchLike } from '@modelcontextprotocol/client';
import { BUDGET } from '../../base/budget.ts';
import { limitBody, withBody } from '../../base/httpBody.ts';
import { JsonFilter } from './jsonFilter.ts';
import { type Answer, answerOf, type BodyReader, canPostLocally, postLocally, release } from './localPost.ts';
import type { PendingRequests } from './pendingRequests.ts';

type Filter = (body: BodyReader, requests: PendingRequests) => AsyncGenerator<Buffer>;

const FILTERS: ReadonlyMap<string, Filter> = new Map([
  ['application/json', filterJson],
  ['text/event-stream', filterEvents],
]);
const NEWLINE = Buffer.from('\n');

/**
 * A `fetch` that moves long base64 strings of responses to files and puts placeholders in their place. `onEnd` is called
 * when the body of a response has ended, failed or been cancelled.
 */
export function createSpillingFetch(
  requests: PendingRequests,
  onEnd?: (init: RequestInit | undefined) => void,
): FetchLike {
  return async (url, init) => {
    const { response, body } = await send(new URL(url), init, requests);
    const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    const filter = FILTERS.get(type);
    if (body === undefined) return response;
    if (!response.ok || filter === undefined) {
      // The SDK reads it whole, to quote it.
      const whole = withBody(response, streamOf(body, chunksOf(body)));
      return limitBody(whole, { maxBytes: BUDGET.errorBodyBytes, cut: true });
    }
    const filtered = ending(filter(body, requests), () => onEnd?.(init));
    return withBody(response, streamOf(body, filtered));
  };
}

/** Only results that are saved can be large enough for the shorter way. */
async function send(url: URL, init: RequestInit | undefined, requests: PendingRequests): Promise<Answer> {
  if (init !== undefined && requests.savesResult && canPostLocally(url, init)) return postLocally(url, init);
  return answerOf(await fetch(url, init));
}

function streamOf(body: BodyReader, filtered: AsyncGenerator<Buffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await filtered.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => {
      // Ends the read that the filter may wait for.
      await body.cancel(reason);
      await filtered.return(undefined);
    },
  });
}

async function* ending(body: AsyncGenerator<Buffer>, onEnd: () => void): AsyncGenerator<Buffer> {
  try {
    yield* body;
  } finally {
    onEnd();
  }
}

async function* filterJson(body: BodyReader, requests: PendingRequests): AsyncGenerator<Buffer> {
  const filter = new JsonFilter(requests);
  try {
    for await (const chunk of chunksOf(body)) {
      await pushTo(filter, chunk);
      release(chunk);
    }
    yield await filter.end();
  } finally {
    await filter.abort();
  }
}

async function* filterEvents(body: BodyReader, requests: PendingRequests): AsyncGenerator<Buffer> {
  const filter = new JsonFilter(requests);
  const lines = new EventLines();
  let fields: Buffer[] = [];
  let hasData = false;
  try {
    for await (const chunk of chunksOf(body)) {
      for (const part of lines.split(chunk)) {
        if (part.kind === 'data') {
          await pushTo(filter, part.bytes);
        } else if (part.kind === 'endOfData') {
          hasData = true;
          await filter.push(NEWLINE);
        } else if (part.kind === 'other') {
          if (fields.length < MAX_FIELDS && isField(part.line)) fields.push(part.line, NEWLINE);
        } else if (hasData || fields.length > 0) {
          yield Buffer.concat([...fields, hasData ? eventOf(await filter.end()) : NEWLINE]);
          fields = [];
          hasData = false;
          // The SDK handles notifications asynchronously and responses at once. Without this break, the last
          // progress of a request would be reported after its result.
          await new Promise(setImmediate);
        }
      }
      release(chunk);
    }
  } finally {
    await filter.abort();
  }
}

/** Two for each line. An event has few fields; of a flood, the rest is dropped. */
const MAX_FIELDS = 32;
const FIELD = /^(?:\xef\xbb\xbf)?(?:data|event|id|retry)(?::|$)/;

/** False for comments and for fields without a meaning. The SDK would take each line of a flood as a piece of its own. */
function isField(line: Buffer): boolean {
  return FIELD.test(line.toString('latin1', 0, 16));
}

/** On one line, which JSON allows: the SDK reads each line of data by itself, and there may be millions. */
function eventOf(message: Buffer): Buffer {
  const text = message.toString('utf8').replace(/\n$/, '');
  return Buffer.from(`data: ${text.replaceAll('\n', ' ')}\n\n`);
}

async function pushTo(filter: JsonFilter, bytes: Buffer): Promise<void> {
  await filter.push(bytes);
  if (filter.exceedsDropLimit) throw new Error('it sent a message that exceeds the size limit');
}

async function* chunksOf(body: BodyReader): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (done || value === undefined) return;
      yield Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
  } finally {
    // After an error the rest is not needed; after the end this has no effect.
    await body.cancel().catch(() => undefined);
  }
}

type EventPart =
  | { readonly kind: 'data'; readonly bytes: Buffer }
  /** A line of data has ended; another one may follow. */
  | { readonly kind: 'endOfData' }
  /** A line with another field or a comment. */
  | { readonly kind: 'other'; readonly line: Buffer }
  | { readonly kind: 'endOfEvent' };

const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20];
const DATA = Buffer.from('data:');
/** The rest of a longer line is dropped. */
const MAX_OTHER_BYTES = 64 * 1024;

/** Splits an event stream, at any chunking, without buffering lines of data. */
export class EventLines {
  /** The beginning of a line; empty once it is known to be data. */
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
