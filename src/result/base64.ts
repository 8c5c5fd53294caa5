/**
 * Base64 as servers really send it: plain, URL-safe, without padding, wrapped in lines, or as a data: URL.
 * `Buffer.from` skips what it does not know, so everything is checked before it is decoded.
 */
export type DecodedBytes =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly mimeType?: string }
  | { readonly ok: false; readonly reason: string };

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),/i;
const MAX_DATA_URL_HEAD_CHARS = 1000;
/** Searched for, not matched from end to end: a search needs no backtracking, however long the text. */
const NOT_PLAIN = /[^A-Za-z0-9+/]/;
const NOT_URL_SAFE = /[^A-Za-z0-9_-]/;

export function decodeBase64(data: string): DecodedBytes {
  const head = DATA_URL.exec(data.slice(0, MAX_DATA_URL_HEAD_CHARS).trimStart());
  if (!head) return decode(data);
  const [whole, mimeType, parameters = ''] = head;
  const payload = data.slice(data.indexOf(whole) + whole.length);
  const decoded = /;base64$/i.test(parameters) ? decode(payload) : decodePercent(payload);
  return decoded.ok && mimeType ? { ...decoded, mimeType } : decoded;
}

/** An upper bound of the bytes that a string can decode to, known before anything is decoded. */
export function decodedSizeAtMost(data: string): number {
  return Math.ceil((data.length * 3) / 4);
}

/** Line breaks (some 5 %), padding and the head of a data: URL make the estimate larger than the bytes. */
const MAX_OVERHEAD_BYTES = 1024;

/** Whether more bytes must come out of a string than are allowed; judged before decoding, so that it costs no memory. */
export function isSurelyLarger(data: string, maxBytes: number): boolean {
  return decodedSizeAtMost(data) > maxBytes * 1.05 + MAX_OVERHEAD_BYTES;
}

function decode(data: string): DecodedBytes {
  const text = /\s/.test(data) ? data.replace(/\s+/g, '') : data;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.slice(0, text.length - padding);
  if (NOT_PLAIN.test(digits) && NOT_URL_SAFE.test(digits))
    return { ok: false, reason: 'its data is not base64' };
  if (digits.length % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) {
    return { ok: false, reason: 'its base64 data is cut off or has the wrong padding' };
  }
  // Buffer reads both alphabets under this name.
  return { ok: true, bytes: Buffer.from(digits, 'base64') };
}

function decodePercent(payload: string): DecodedBytes {
  try {
    return { ok: true, bytes: new TextEncoder().encode(decodeURIComponent(payload)) };
  } catch {
    return { ok: false, reason: 'its data: URL is not valid' };
  }
}
