import { open } from 'node:fs/promises';
import { durationSeconds } from '../media/duration.ts';
import { type ImageSize, imageSize } from '../media/imageSize.ts';
import { lookAt } from './confined.ts';

export interface FileFacts {
  readonly mimeType: string;
  readonly size: number;
  readonly changed: Date;
  readonly pixels?: ImageSize | undefined;
  /** The duration of audio or video. */
  readonly seconds?: number | undefined;
}

const TAIL_BYTES = 64 * 1024;

/** Reads only the head and the tail. `path` is a real path that may be read. */
export async function readFacts(path: string): Promise<FileFacts> {
  const { stats, size, head, mimeType } = await lookAt(path);
  const changed = new Date(Number(stats.mtimeMs));
  const facts = { mimeType, size, changed };
  if (mimeType.startsWith('image/')) return { ...facts, pixels: imageSize(head) };
  if (!/^(?:audio|video)\//.test(mimeType)) return facts;
  const tail = size <= head.length ? head : await readTail(path, size, TAIL_BYTES);
  return { ...facts, seconds: durationSeconds({ head, tail, size }) };
}

export async function readTail(path: string, size: number, maxBytes: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const at = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
