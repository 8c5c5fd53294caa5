import { describeSize } from './size.ts';

/** The body of a response is over its budget. A TypeError like those of `fetch`, so that callers treat it as one. */
export class BodyTooLargeError extends TypeError {
  override readonly name = 'BodyTooLargeError';
}

interface BodyLimit {
  /** Counted after decompression: a few KB can become gigabytes. */
  readonly maxBytes: number;
  /** Of JSON: reading values takes longer, and more memory, than their bytes. */
  readonly maxValues?: number;
  /** Whether the rest is left out, as for the text of an error. Otherwise reading fails. */
  readonly cut?: boolean;
}

/** The same response, read up to the limit. The connection is closed there. */
export function limitBody(response: Response, limit: BodyLimit): Response {
  const { body } = response;
  return body === null ? response : withBody(response, limitStream(body, limit));
}

/** The same response with another body, which is not compressed. */
export function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const headers = new Headers(response.headers);
  // `fetch` has decoded the body, and its length has changed.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const { status, statusText, url, redirected } = response;
  const changed = new Response(body, { status, statusText, headers });
  return Object.defineProperties(changed, { url: { value: url }, redirected: { value: redirected } });
}

function limitStream(
  body: ReadableStream<Uint8Array>,
  { maxBytes, maxValues = Number.POSITIVE_INFINITY, cut = false }: BodyLimit,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = maxBytes;
  let values = 0;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      left -= value.length;
      if (maxValues < Number.POSITIVE_INFINITY) values += valuesIn(value);
      if (left >= 0 && values <= maxValues) return controller.enqueue(value);
      await reader.cancel().catch(() => undefined);
      if (left >= 0) throw new BodyTooLargeError(`The response has more than ${maxValues} values.`);
      if (!cut) throw new BodyTooLargeError(`The response is larger than ${describeSize(maxBytes)}.`);
      controller.enqueue(value.subarray(0, value.length + left));
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const BEFORE_VALUES: ReadonlySet<number> = new Set(Buffer.from(',[{'));

/** Roughly, as in `countValues`. */
function valuesIn(bytes: Uint8Array): number {
  let values = 0;
  for (const byte of bytes) if (BEFORE_VALUES.has(byte)) values += 1;
  return values;
}
