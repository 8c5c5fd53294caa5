export type DecodedBytes =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly mimeType?: string }
  | { readonly ok: false; readonly reason: string };

const DATA_URL = /^data:([^,;]*)((?:;[^,;]*)*),/i;
const MAX_DATA_URL_HEAD_CHARS = 1000;
/** Negated classes, because a search needs no backtracking. */
const NOT_PLAIN = /[^A-Za-z0-9+/]/;
const NOT_URL_SAFE = /[^A-Za-z0-9_-]/;

/**
 * Decodes base64 as servers send it: plain, URL-safe, without padding, in lines, or as a data: URL.
 * Validates first, because `Buffer.from` skips invalid characters.
 */
export function decodeBase64(data: string): DecodedBytes {
  const { payload, isBase64: claims, mimeType } = readDataUrl(data);
  const decoded = claims ? decode(payload) : decodePercent(payload);
  return decoded.ok && mimeType ? { ...decoded, mimeType } : decoded;
}

export interface DataUrlParts {
  readonly payload: string;
  readonly isBase64: boolean;
  /** Undefined if the string is not a data: URL. */
  readonly mimeType?: string;
}

/** A string without the head of a data: URL is base64 as a whole. */
export function readDataUrl(data: string): DataUrlParts {
  const head = DATA_URL.exec(data.slice(0, MAX_DATA_URL_HEAD_CHARS).trimStart());
  if (!head) return { payload: data, isBase64: true };
  const [whole, mimeType = '', parameters = ''] = head;
  const payload = data.slice(data.indexOf(whole) + whole.length);
  return { payload, isBase64: /;base64$/i.test(parameters), mimeType };
}

export function isBase64(data: string): boolean {
  const { payload, isBase64: claims } = readDataUrl(data);
  return claims ? readDigits(payload).ok : decodePercent(payload).ok;
}

/** Plain alphabet with padding, as MCP requires. Does not copy the bytes. */
export function encodeBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

export function decodedSizeAtMost(data: string): number {
  return Math.ceil((data.length * 3) / 4);
}

const MAX_OVERHEAD_BYTES = 1024;

/** Checks the size before decoding; allows 5 % for line breaks. */
export function isSurelyLarger(data: string, maxBytes: number): boolean {
  return decodedSizeAtMost(data) > maxBytes * 1.05 + MAX_OVERHEAD_BYTES;
}

function decode(data: string): DecodedBytes {
  const read = readDigits(data);
  // Buffer's 'base64' accepts both alphabets.
  return read.ok ? { ok: true, bytes: Buffer.from(read.digits, 'base64') } : read;
}

function readDigits(
  data: string,
): { readonly ok: true; readonly digits: string } | { readonly ok: false; readonly reason: string } {
  const text = /\s/.test(data) ? data.replace(/\s+/g, '') : data;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.slice(0, text.length - padding);
  if (NOT_PLAIN.test(digits) && NOT_URL_SAFE.test(digits))
    return { ok: false, reason: 'its data is not base64' };
  if (digits.length % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) {
    return { ok: false, reason: 'its base64 data is incomplete or has invalid padding' };
  }
  return { ok: true, digits };
}

function decodePercent(payload: string): DecodedBytes {
  try {
    return { ok: true, bytes: new TextEncoder().encode(decodeURIComponent(payload)) };
  } catch {
    return { ok: false, reason: 'its data: URL is not valid' };
  }
}
