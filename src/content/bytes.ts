import { isAnyArrayBuffer, isUint8Array } from 'node:util/types';
import { decodeBase64, encodeBase64, isBase64, readDataUrl } from '../base/base64.ts';
import { LARGE_FILE_BYTES } from '../base/size.ts';
import { mediaByUri, sniffHead, typeName } from '../media/sniff.ts';
import { isAllowedType, isTextType, listTypes, mediaByType, UNKNOWN } from '../media/table.ts';
import type { Bytes, ContentOptions } from './types.ts';

/** Plain base64 with padding, as MCP requires. */
export function bufferToBase64(bytes: Bytes): string {
  return encodeBase64(viewOf(bytes));
}

/** Accepts every form that `validateBase64` accepts. */
export function base64ToBuffer(data: string): Buffer {
  const decoded = decodeBase64(data);
  if (!decoded.ok) throw new InvalidBase64();
  return viewOf(decoded.bytes);
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

/** Also true for bytes of another realm, such as those of a test runner. */
export function isBytes(value: unknown): value is Bytes {
  return isUint8Array(value) || isAnyArrayBuffer(value);
}

/** A view of the same memory, in this realm. */
export function viewOf(bytes: Bytes): Buffer {
  if (!isUint8Array(bytes)) return Buffer.from(bytes);
  const { buffer, byteOffset, byteLength } = bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A multiple of four, so that each piece can be decoded separately. */
const PIECE_CHARS = 1024 * 1024;

/** Whether base64 can be sent as it is. Decodes and encodes it, which is much faster than checking each digit. */
export function isCanonical(data: string): boolean {
  const padding = data.indexOf('=');
  if (data.length % 4 !== 0 || (padding >= 0 && padding < data.length - 2)) return false;
  for (let at = 0; at < data.length; at += PIECE_CHARS) {
    const piece = data.slice(at, at + PIECE_CHARS);
    if (Buffer.from(piece, 'base64').toString('base64') !== piece) return false;
  }
  return true;
}

/** The decoded size, computed without decoding. */
export function base64Size(data: string): number {
  const { payload, isBase64: isEncoded } = readDataUrl(data);
  if (!isEncoded) return Buffer.byteLength(payload) - 2 * (payload.match(/%[0-9a-f]{2}/gi)?.length ?? 0);
  const digits = /\s/.test(payload) ? payload.replace(/\s+/g, '') : payload;
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0;
  return Math.floor(((digits.length - padding) * 3) / 4);
}

/** Larger content causes a warning: many clients do not accept longer messages. */
export const MAX_SAFE_SIZE: number = LARGE_FILE_BYTES;

/** Larger content is an error, unless `maxBytes` allows it. */
export const MAX_SIZE: number = 50 * 1024 * 1024;

export type Limits = Pick<ContentOptions, 'maxBytes' | 'onWarning' | 'allowedTypes'>;

export function checkSize(byteCount: number, { maxBytes = MAX_SIZE, onWarning }: Limits): void {
  if (byteCount === 0) throw new Error('Cannot convert empty buffer: there is nothing in it to send.');
  if (byteCount > maxBytes)
    throw new Error(
      `File too large: ${byteCount} bytes (max: ${maxBytes}). Consider reducing image quality or splitting into smaller files.`,
    );
  if (byteCount > MAX_SAFE_SIZE)
    onWarning?.(`Large file detected: ${byteCount} bytes. Consider streaming or chunking.`);
}

/** Whether one of the types or groups (`image/*`) allows it. Without a list, every type is allowed. */
export function validateFileType(mimeType: string, allowedTypes?: readonly string[]): boolean {
  return allowedTypes === undefined || isAllowedType(mimeType, allowedTypes);
}

/** A detected type counts more than the given one. */
export function checkType(
  detected: string,
  { mimeType, allowedTypes }: Pick<ContentOptions, 'mimeType' | 'allowedTypes'>,
): void {
  const type = detected === OCTETS ? mimeType || OCTETS : detected;
  if (!validateFileType(type, allowedTypes))
    throw new Error(
      `File type not allowed: ${type} (allowed: ${listTypes(allowedTypes ?? [])}). Convert the file, or add its type to allowedTypes.`,
    );
}

const OCTETS = 'application/octet-stream';

/**
 * The given type, otherwise the type by the first bytes, otherwise by the name. A string is base64, a data: URL, or a
 * path; only its extension counts. Office files are distinguished from archives by their name.
 */
export function detectMimeType(input: Bytes | string, filePath?: string, providedMimeType?: string): string {
  const declared = providedMimeType || (typeof input === 'string' ? dataUrlType(input) : undefined);
  if (declared) return declared;
  const named = mediaByUri(filePath) ?? (typeof input === 'string' ? mediaByUri(input) : undefined);
  return (sniffHead(headOf(input), named) ?? named ?? UNKNOWN).types[0];
}

export function dataUrlType(data: string): string | undefined {
  const { mimeType } = readDataUrl(data);
  return mimeType !== undefined && isValidMimeType(mimeType) ? mimeType : undefined;
}

/** Checks the form only: `image/png`, `text/plain; charset=utf-8`. */
export function isValidMimeType(mimeType: string): boolean {
  return typeof mimeType === 'string' && typeName(mimeType) !== undefined;
}

export function isTextual(mimeType: string | undefined): boolean {
  if (!mimeType) return true;
  const name = typeName(mimeType) ?? '';
  return isTextType(name) || /\+(?:json|xml)$/.test(name);
}

/** Only images that every client can show become image blocks. */
export function blockFor(mimeType: string): 'image' | 'audio' | 'resource' {
  const name = typeName(mimeType) ?? '';
  const known = mediaByType(name);
  if (known) return known.kind === 'file' ? 'resource' : known.kind;
  if (name.startsWith('image/')) return 'image';
  return name.startsWith('audio/') ? 'audio' : 'resource';
}

/** Only a warning: an unknown type may be a typing error. */
export function warnOfType(mimeType: string, { onWarning }: Pick<ContentOptions, 'onWarning'>): void {
  const name = typeName(mimeType);
  if (name === undefined) onWarning?.(`Invalid MIME type: ${mimeType}. It is sent as it is.`);
  else if (!isKnown(name)) onWarning?.(`Unsupported MIME type: ${mimeType}. It is sent as it is.`);
}

function isKnown(name: string): boolean {
  return name === OCTETS || mediaByType(name) !== undefined || isTextual(name);
}

/** Enough for every signature; a multiple of four. */
const HEAD_CHARS = 8192;

function headOf(input: Bytes | string): Uint8Array {
  if (isBytes(input)) return viewOf(input);
  const decoded = decodeBase64(input.slice(0, HEAD_CHARS));
  return decoded.ok ? decoded.bytes : new Uint8Array();
}
