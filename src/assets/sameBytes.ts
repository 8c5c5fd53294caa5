import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import type { AssetBytes } from '../ports.ts';

const SAMPLE_BYTES = 4096;
const CHUNK_BYTES = 256 * 1024;

export function sizeOf(bytes: AssetBytes): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.size;
}

/** A print of both ends. Bytes of one size with different prints differ; with equal ones they may be equal. */
export async function printOf(bytes: AssetBytes): Promise<string> {
  if (bytes instanceof Uint8Array) {
    return digest(bytes.subarray(0, SAMPLE_BYTES), bytes.subarray(tailStart(bytes.length)));
  }
  return printOfFile(bytes.path, bytes.size);
}

export async function printOfFile(path: string, size: number): Promise<string> {
  const file = await openToRead(path);
  try {
    const head = await readAt(file, 0, SAMPLE_BYTES);
    return digest(head, await readAt(file, tailStart(size), SAMPLE_BYTES));
  } finally {
    await file.close();
  }
}

/** Whether a file is a regular one and holds exactly these bytes. Neither is ever whole in memory. */
export async function fileHolds(path: string, bytes: AssetBytes): Promise<boolean> {
  const size = sizeOf(bytes);
  const found = await lstat(path);
  if (!found.isFile() || found.size !== size) return false;
  const file = await openToRead(path);
  try {
    if (!(await holdsAll(file, bytes))) return false;
    // Whoever put it there may not have waited for the disk; a link must outlive a power cut.
    await file.sync().catch(() => undefined);
    return (await file.stat()).size === size;
  } finally {
    await file.close();
  }
}

async function holdsAll(file: FileHandle, bytes: AssetBytes): Promise<boolean> {
  const size = sizeOf(bytes);
  const expected = await openBytes(bytes);
  try {
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, size - at);
      const [found, wanted] = await Promise.all([readAt(file, at, length), expected.read(at, length)]);
      if (found.length !== length || found.compare(wanted) !== 0) return false;
    }
    return true;
  } finally {
    await expected.close();
  }
}

interface ByteReader {
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

async function openBytes(bytes: AssetBytes): Promise<ByteReader> {
  if (bytes instanceof Uint8Array) {
    return { read: async (at, length) => bytes.subarray(at, at + length), close: async () => undefined };
  }
  const file = await openToRead(bytes.path);
  return { read: (at, length) => readAt(file, at, length), close: () => file.close() };
}

/** Not through a symlink, should one have taken the place of the file. Windows has no such flag. */
function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Where the second sample begins; short bytes are all in the first one. */
function tailStart(size: number): number {
  return Math.max(SAMPLE_BYTES, size - SAMPLE_BYTES);
}

function digest(head: Uint8Array, tail: Uint8Array): string {
  return createHash('sha256').update(head).update(tail).digest('base64');
}
