import { decodeBase64 } from '../../base/base64.ts';
import { field } from '../../base/json2.ts';
import type { ResourceContents } from '../../ports.ts';

/** The items of a resource as they are. Throws with a message fit for the user. */
export function readContents(result: unknown, maxBytes: number): readonly ResourceContents[] {
  const contents = field(result, 'contents');
  if (!Array.isArray(contents)) throw new Error('The server answered without contents.');
  let bytes = 0;
  return contents.map((item: unknown) => {
    const read = readItem(item);
    bytes += read.data.length;
    if (bytes > maxBytes) {
      throw new Error(`The resource is larger than ${Math.round(maxBytes / 1024 / 1024)} MB.`);
    }
    return read;
  });
}

function readItem(item: unknown): ResourceContents {
  const [uri, mimeType, text, blob] = ['uri', 'mimeType', 'text', 'blob'].map((key) => field(item, key));
  const meta = field(item, '_meta');
  const about = {
    uri: typeof uri === 'string' ? uri : '',
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
    ...(meta === undefined ? {} : { meta }),
  };
  if (typeof text === 'string') return { ...about, data: text };
  if (typeof blob !== 'string') throw new Error('The server answered with neither text nor bytes.');
  const decoded = decodeBase64(blob);
  if (!decoded.ok) throw new Error(`The bytes of the resource cannot be read: ${decoded.reason}.`);
  return { ...about, data: decoded.bytes };
}
