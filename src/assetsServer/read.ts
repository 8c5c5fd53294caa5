import type { BlobResourceContents, TextResourceContents } from '@modelcontextprotocol/server';
import { readAddress } from '../catalog/address.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { CatalogRefusal, type Entry, entryMeta, type FoundEntry } from '../catalog/entry.ts';
import type { FileWindow } from '../catalog/windows.ts';
import { bufferToBase64 } from '../content/bytes.ts';

const BY_NAME = /^asset:(?:\/\/)?(.*)$/is;
const MAX_NAMED = 5;

export async function findByUri(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const read = readAddress(uri);
  if (!read.ok) throw new CatalogRefusal(read.reason);
  return catalog.find(read.address);
}

/** Accepts an address, or `asset:NAME` if only one asset has this name. */
export async function findReadable(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const [, name] = BY_NAME.exec(uri) ?? [];
  if (name === undefined) return findByUri(catalog, uri);
  const named = await catalog.findByName(name);
  const [only] = named;
  if (only === undefined)
    throw new CatalogRefusal('There is no asset of this name. Find it with list_assets.');
  if (named.length > 1) {
    const uris = named.slice(0, MAX_NAMED).map((entry) => entry.uri);
    throw new CatalogRefusal(`Several assets have this name. Say which by its address: ${uris.join(', ')}`);
  }
  return findByUri(catalog, only.uri);
}

/** Uses the requested address, which may differ from the one in lists. */
export function contentsOf(
  { mimeType, totalBytes, body }: FileWindow,
  uri: string,
  { changed }: Entry,
): TextResourceContents | BlobResourceContents {
  const about = { uri, mimeType, _meta: entryMeta({ mimeType, size: totalBytes, changed }) };
  return body.kind === 'text'
    ? { ...about, text: body.text }
    : { ...about, blob: bufferToBase64(body.bytes) };
}

/** Clients that use the SDKs close the connection when a longer message arrives. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** For the rest of the message. */
const ENVELOPE_BYTES = 16 * 1024;
export const MAX_CONTENTS_BYTES: number = MAX_MESSAGE_BYTES - ENVELOPE_BYTES;
/** A byte takes at most this many characters in JSON. */
const MAX_JSON_GROWTH = 6;

/** Measures only contents that may be too long. */
export function fitsInMessage(contents: object, { byteCount }: FileWindow): boolean {
  return (
    byteCount * MAX_JSON_GROWTH <= MAX_CONTENTS_BYTES ||
    Buffer.byteLength(JSON.stringify(contents)) <= MAX_CONTENTS_BYTES
  );
}
