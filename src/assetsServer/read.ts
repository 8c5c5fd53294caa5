import type { BlobResourceContents, TextResourceContents } from '@modelcontextprotocol/server';
import { readAddress } from '../catalog/address.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { CatalogRefusal, type Entry, entryMeta, type FoundEntry } from '../catalog/entry.ts';
import type { FileWindow } from '../catalog/windows.ts';
import { bufferToBase64 } from '../content/base64.ts';

const BY_NAME = /^asset:(?:\/\/)?(.*)$/is;
const MAX_NAMED = 5;

/** By its address. Rejects with a `CatalogRefusal`. */
export async function findByUri(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const read = readAddress(uri);
  if (!read.ok) throw new CatalogRefusal(read.reason);
  return catalog.find(read.address);
}

/** By its address, or as `asset:NAME` where only one asset is called so. */
export async function findReadable(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const [, name] = BY_NAME.exec(uri) ?? [];
  if (name === undefined) return findByUri(catalog, uri);
  const named = await catalog.findByName(name);
  const [only] = named;
  if (only === undefined)
    throw new CatalogRefusal(`There is no asset of this name. Find it with list_assets.`);
  if (named.length > 1) {
    const uris = named.slice(0, MAX_NAMED).map((entry) => entry.uri);
    throw new CatalogRefusal(`Several assets have this name. Say which by its address: ${uris.join(', ')}`);
  }
  return findByUri(catalog, only.uri);
}

/** A window as the contents of a resource, under the address by which it was asked for. */
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

/** Clients built with the SDKs end a connection over which a longer message comes. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** For the rest of the message around the contents. */
const ENVELOPE_BYTES = 16 * 1024;
export const MAX_CONTENTS_BYTES: number = MAX_MESSAGE_BYTES - ENVELOPE_BYTES;
/** A byte takes no more characters than this in JSON. */
const MAX_JSON_GROWTH = 6;

/** Measured only where it can matter. */
export function fitsInMessage(contents: object, { byteCount }: FileWindow): boolean {
  return (
    byteCount * MAX_JSON_GROWTH <= MAX_CONTENTS_BYTES ||
    Buffer.byteLength(JSON.stringify(contents)) <= MAX_CONTENTS_BYTES
  );
}
