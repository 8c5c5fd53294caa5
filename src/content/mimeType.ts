import { decodeBase64, readDataUrl } from '../base/base64.ts';
import { byUri, sniffHead, typeName } from '../media/sniff.ts';
import { isTextType, type MediaType, mediaByType, UNKNOWN } from '../media/table.ts';
import { isBytes, viewOf } from './base64.ts';

import type { Bytes, ContentOptions } from './types.ts';

const OCTETS = 'application/octet-stream';

/**
 * What something is: what its author says, else what its first bytes say, else its name. A string is base64, a
 * data: URL, or a path, of which only the name is looked at. Office files are told from archives by their name.
 */
export function detectMimeType(input: Bytes | string, filePath?: string, providedMimeType?: string): string {
  const declared = providedMimeType || (typeof input === 'string' ? dataUrlType(input) : undefined);
  if (declared) return declared;
  const named = byUri(filePath) ?? (typeof input === 'string' ? byUri(input) : undefined);
  return firstType(sniffHead(headOf(input), named) ?? named ?? UNKNOWN);
}

/** What the head of a data: URL says, if that is a type. */
export function dataUrlType(data: string): string | undefined {
  const { mimeType } = readDataUrl(data);
  return mimeType !== undefined && isValidMimeType(mimeType) ? mimeType : undefined;
}

/** Whether it has the form of a type: `image/png`, `text/plain; charset=utf-8`. */
export function isValidMimeType(mimeType: string): boolean {
  return typeof mimeType === 'string' && typeName(mimeType) !== undefined;
}

export function firstType({ types: [type] }: MediaType): string {
  return type ?? OCTETS;
}

/** Whether something of this type, or of none, may be text. */
export function isTextual(mimeType: string | undefined): boolean {
  return (
    !mimeType || isTextType(typeName(mimeType) ?? '') || /\+(?:json|xml)$/.test(typeName(mimeType) ?? '')
  );
}

/** Which block a type goes into: as a picture only what every client can show. */
export function blockFor(mimeType: string): 'image' | 'audio' | 'resource' {
  const name = typeName(mimeType) ?? '';
  const known = mediaByType(name);
  if (known) return known.kind === 'file' ? 'resource' : known.kind;
  if (name.startsWith('image/')) return 'image';
  return name.startsWith('audio/') ? 'audio' : 'resource';
}

/** The author's word counts; what nobody has heard of may be a slip of the pen. */
export function warnOfType(mimeType: string, { onWarning }: Pick<ContentOptions, 'onWarning'>): void {
  const name = typeName(mimeType);
  if (name === undefined) onWarning?.(`Invalid MIME type: ${mimeType}. It is sent as it is.`);
  else if (!isKnown(name)) onWarning?.(`Unsupported MIME type: ${mimeType}. It is sent as it is.`);
}

function isKnown(name: string): boolean {
  return name === OCTETS || mediaByType(name) !== undefined || isTextual(name);
}

/** Enough for every signature, also behind some markup; a multiple of four. */
const HEAD_CHARS = 8192;
const NOTHING = new Uint8Array();

function headOf(input: Bytes | string): Uint8Array {
  if (isBytes(input)) return viewOf(input);
  const decoded = decodeBase64(input.slice(0, HEAD_CHARS));
  return decoded.ok ? decoded.bytes : NOTHING;
}
