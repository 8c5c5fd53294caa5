import type { BlobResourceContents, TextResourceContents } from '@modelcontextprotocol/server';
import { entryMeta } from '../catalog/about.ts';
import type { Entry } from '../catalog/entry.ts';
import type { FileWindow } from '../catalog/windows.ts';
import { bufferToBase64 } from '../content/base64.ts';

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
