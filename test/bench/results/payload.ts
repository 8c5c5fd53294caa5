import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Item, Load } from './types.ts';

/** A file with the base64 of an image, which the server streams. */
export function payloadPath(folder: string, mb: number): string {
  return join(folder, `${mb}.b64`);
}

/** Writes the base64 of a PNG with random pixels and resolves to the SHA-256 of its bytes. */
export async function createPayload(folder: string, mb: number): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(payloadPath(folder, mb), 'wx');
  try {
    let left = mb === 0 ? TINY_BYTES : mb * BYTES_IN_MB_OF_BASE64;
    for (let begun = false; left > 0; begun = true) {
      const bytes = randomBytes(Math.min(left, BYTES_IN_MB_OF_BASE64));
      if (!begun) pngHead(left).copy(bytes);
      hash.update(bytes);
      await file.write(bytes.toString('base64'));
      left -= bytes.length;
    }
    // Flushed now, so that no write-back slows down a client later.
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

export type SmallBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: 'image/png' };

/** Every image differs from the others, so that none can be saved by pointing at another. */
export function smallBlock(index: number): SmallBlock {
  if (index % 2 === 0) return { type: 'text', text: `Block ${index} is text`.padEnd(SMALL_CHARS, '.') };
  const bytes = Buffer.alloc(SMALL_BYTES);
  pngHead(bytes.length).copy(bytes);
  bytes.writeUInt32BE(index, PNG_HEAD_BYTES);
  return { type: 'image', data: bytes.toString('base64'), mimeType: 'image/png' };
}

/** One hash over all blocks of a result in their order. */
export async function hashItems(items: readonly Item[]): Promise<string> {
  const hash = createHash('sha256');
  for (const item of items) {
    if (item.kind === 'text') hash.update(item.text);
    else for await (const chunk of createReadStream(item.path)) hash.update(chunk);
  }
  return hash.digest('hex');
}

export function hashSmallBlocks(count: number): string {
  const hash = createHash('sha256');
  for (let index = 0; index < count; index++) {
    const block = smallBlock(index);
    hash.update(block.type === 'text' ? block.text : Buffer.from(block.data, 'base64'));
  }
  return hash.digest('hex');
}

/** Resolves to the expected hash. */
export async function prepareLoad(folder: string, load: Load): Promise<string> {
  return load.kind === 'image' ? createPayload(folder, load.mb) : hashSmallBlocks(load.count);
}

const BYTES_IN_MB_OF_BASE64 = (1024 * 1024 * 3) / 4;
const TINY_BYTES = 3 * 1024;
const SMALL_CHARS = 100;
const SMALL_BYTES = 1024;
const PNG_HEAD_BYTES = 41;

/** The beginning of a PNG whose pixel data fills the rest of the bytes: a client may check its structure. */
function pngHead(totalBytes: number): Buffer {
  const head = Buffer.alloc(PNG_HEAD_BYTES);
  head.write('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
  head.writeUInt32BE(totalBytes - PNG_HEAD_BYTES, 33);
  head.write('IDAT', 37, 'latin1');
  return head;
}
