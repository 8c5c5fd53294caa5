import { isAnyArrayBuffer, isUint8Array } from 'node:util/types';
import { decodeBase64, encodeBase64, isBase64, readDataUrl } from '../base/base64.ts';
import type { Bytes, ContentOptions } from './types.ts';

/** Plain base64 with padding, as MCP has it. */
export function bufferToBase64(bytes: Bytes): string {
  return encodeBase64(viewOf(bytes));
}

/** Takes every form that `validateBase64` takes. */
export function base64ToBuffer(data: string): Buffer {
  const decoded = decodeBase64(data);
  if (!decoded.ok) throw new InvalidBase64();
  const { buffer, byteOffset, byteLength } = decoded.bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Whether a string decodes: plain or URL-safe, with or without padding, in lines, or as a data: URL. */
export function validateBase64(data: string): boolean {
  return typeof data === 'string' && isBase64(data);
}

export class InvalidBase64 extends Error {
  constructor() {
    super(
      'Invalid base64 data: String contains invalid characters. Ensure the data is properly base64-encoded.',
    );
  }
}

/** Also for bytes of another realm, such as those that a test runner hands out. */
export function isBytes(value: unknown): value is Bytes {
  return isUint8Array(value) || isAnyArrayBuffer(value);
}

/** A view of the same memory, in this realm. */
export function viewOf(bytes: Bytes): Buffer {
  if (!isUint8Array(bytes)) return Buffer.from(bytes);
  const { buffer, byteOffset, byteLength } = bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A multiple of four, so that each piece can be decoded alone. */
const PIECE_CHARS = 1024 * 1024;

/**
 * Base64 that is as MCP has it, and so need not be decoded to be sent: what comes out when it is decoded and encoded
 * again, which is far faster than to look at each of its digits.
 */
export function isCanonical(data: string): boolean {
  const padding = data.indexOf('=');
  if (data.length % 4 !== 0 || (padding >= 0 && padding < data.length - 2)) return false;
  for (let at = 0; at < data.length; at += PIECE_CHARS) {
    const piece = data.slice(at, at + PIECE_CHARS);
    if (Buffer.from(piece, 'base64').toString('base64') !== piece) return false;
  }
  return true;
}

function withoutPadding(digits: string): string {
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0;
  return digits.slice(0, digits.length - padding);
}

/** How many bytes a string holds, from its length alone where it is not broken into lines. */
export function base64Size(data: string): number {
  const { payload, isBase64: isEncoded } = readDataUrl(data);
  if (!isEncoded) return Buffer.byteLength(payload) - 2 * (payload.match(/%[0-9a-f]{2}/gi)?.length ?? 0);
  const digits = /\s/.test(payload) ? payload.replace(/\s+/g, '') : payload;
  return Math.floor((withoutPadding(digits).length * 3) / 4);
}

/** Above this there is a warning: many clients do not take longer messages. */
export const MAX_SAFE_SIZE: number = 10 * 1024 * 1024;

/** Above this there is an error, unless `maxBytes` says otherwise. */
export const MAX_SIZE: number = 50 * 1024 * 1024;

export type Limits = Pick<ContentOptions, 'maxBytes' | 'onWarning'>;

/** Asked with the size alone, before anything is read, decoded or encoded. */
export function checkSize(byteCount: number, { maxBytes = MAX_SIZE, onWarning }: Limits): void {
  if (byteCount === 0) throw new Error('Cannot convert empty buffer: there is nothing in it to send.');
  if (byteCount > maxBytes)
    throw new Error(
      `File too large: ${byteCount} bytes (max: ${maxBytes}). Consider reducing image quality or splitting into smaller files.`,
    );
  if (byteCount > MAX_SAFE_SIZE)
    onWarning?.(`Large file detected: ${byteCount} bytes. Consider streaming or chunking.`);
}
