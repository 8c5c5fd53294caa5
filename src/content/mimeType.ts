import { decodeBase64, readDataUrl } from '../base/base64.ts';
import { mediaByUri, sniffHead, typeName } from '../media/sniff.ts';
import { isTextType, type MediaType, mediaByType, UNKNOWN } from '../media/table.ts';
import { isBytes, viewOf } from './base64.ts';
import type { Bytes, ContentOptions } from './types.ts';

const OCTETS = 'application/octet-stream';

/**
 * The given type, otherwise the type by the first bytes, otherwise by the name. A string is base64, a data: URL, or a
 * path, of which only the extension counts. Office files are distinguished from archives by their name.
 */
export function detectMimeType(input: Bytes | string, filePath?: string, providedMimeType?: string): string {
  const declared = providedMimeType || (typeof input === 'string' ? dataUrlType(input) : undefined);
  if (declared) return declared;
  const named = mediaByUri(filePath) ?? (typeof input === 'string' ? mediaByUri(input) : undefined);
  return firstType(sniffHead(headOf(input), named) ?? named ?? UNKNOWN);
}

export function dataUrlType(data: string): string | undefined {
  const { mimeType } = readDataUrl(data);
  return mimeType !== undefined && isValidMimeType(mimeType) ? mimeType : undefined;
}

/** Checks the form only: `image/png`, `text/plain; charset=utf-8`. */
export function isValidMimeType(mimeType: string): boolean {
  return typeof mimeType === 'string' && typeName(mimeType) !== undefined;
}

export function firstType({ types: [type] }: MediaType): string {
  return type ?? OCTETS;
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
