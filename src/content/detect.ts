import { extname } from 'node:path';
import { mediaByUri, sniffHead } from '../media/sniff.ts';
import { MEDIA_TYPES, mediaByExtension, UNKNOWN } from '../media/table.ts';
import { blockFor, detectMimeType, isBytes, validateBase64, viewOf } from './bytes.ts';
import { isPathLike } from './files.ts';
import type { Bytes, ContentInput, ContentType } from './types.ts';

/** The kind of block that suits an input. A string that is neither a path nor base64 is text. */
export function detectContentType(input: ContentInput): ContentType {
  if (typeof input === 'string' && !isPathLike(input) && !validateBase64(input)) return 'text';
  if (typeof input === 'object' && 'type' in input && input.type !== 'file') return input.type;
  const type =
    typeof input === 'string' || isBytes(input)
      ? detectMimeType(input)
      : input.mimeType || detectMimeTypeFromExtension(input.path);
  const block = blockFor(type);
  return block === 'resource' ? 'binary' : block;
}

/** By the extension alone: `a/chart.png`, `.png` or `png`. */
export function detectMimeTypeFromExtension(filePath: string): string {
  return (mediaByUri(filePath) ?? mediaByExtension(filePath) ?? UNKNOWN).types[0];
}

/** By the first bytes alone. */
export function detectMimeTypeFromMagicBytes(bytes: Bytes): string | null {
  return sniffHead(viewOf(bytes))?.types[0] ?? null;
}

/** In lower case and with its dot, as in `MIME_TYPES`; empty if there is none. */
export function getFileExtension(filePath: string): string {
  return extname(filePath).toLowerCase();
}

/** By extension; `*` is for all others. */
export const MIME_TYPES: Readonly<Record<string, string>> = Object.fromEntries([
  ...MEDIA_TYPES.flatMap(({ extension, aliases, types }) =>
    [extension, ...aliases].map((each) => [`.${each}`, types[0]]),
  ),
  ['*', UNKNOWN.types[0]],
]);
