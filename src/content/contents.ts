import { createHash } from 'node:crypto';
import { byUri, typeName } from '../media/sniff.ts';
import { mediaByType, UNKNOWN } from '../media/table.ts';
import { checkSize } from './limits.ts';
import { firstType, isTextual } from './mimeType.ts';
import type { Payload } from './payload.ts';
import type { EmbedOptions, ResourceContents, TextContents } from './types.ts';

/** What stands in a resource: text where type and bytes both say so, else bytes. */
export function contentsOf(
  payload: Pick<Payload, 'mimeType' | 'base64' | 'bytes'>,
  uri: string,
): ResourceContents {
  const { mimeType } = payload;
  const text = isTextual(mimeType) ? readUtf8(payload.bytes()) : undefined;
  return text === undefined ? { uri, mimeType, blob: payload.base64() } : { uri, mimeType, text };
}

export function textContents(
  text: string,
  { uri, mimeType, name = uri, ...limits }: EmbedOptions,
): TextContents {
  const size = Buffer.byteLength(text);
  if (size > 0) checkSize(size, limits);
  const named = firstType(byUri(name) ?? UNKNOWN);
  return { uri, mimeType: mimeType || (isTextual(named) ? named : 'text/plain'), text };
}

/** An address that is the same for the same bytes, and that nobody takes for one that can be asked. */
export function uriOf({
  uri,
  name,
  mimeType,
  bytes,
}: Pick<Payload, 'uri' | 'name' | 'mimeType' | 'bytes'>): string {
  if (uri) return uri;
  const digest = createHash('sha256').update(bytes()).digest('hex').slice(0, DIGEST_CHARS);
  return `content://sha256-${digest}/${encodeURIComponent((name || `file.${extensionOf(mimeType)}`).toWellFormed())}`;
}

const DIGEST_CHARS = 16;

function extensionOf(mimeType: string): string {
  return (mediaByType(typeName(mimeType) ?? '') ?? UNKNOWN).extension;
}

/** Strict, so that no byte is lost; a mark at the beginning stays too. */
function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
