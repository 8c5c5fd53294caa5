import { open } from 'node:fs/promises';
import { durationSeconds, type ImageSize, imageSize } from '../media/measure.ts';
import { fillBuffer, inspectFile } from './confined.ts';
import { withHandle } from './writeFile.ts';

export interface FileFacts {
  readonly mimeType: string;
  readonly size: number;
  readonly changed: Date;
  readonly pixels?: ImageSize | undefined;
  readonly seconds?: number | undefined;
}

const TAIL_BYTES = 64 * 1024;

/** Reads only the head and the tail. `path` is a real path that may be read. */
export async function readFacts(path: string): Promise<FileFacts> {
  const { stats, size, head, mimeType } = await inspectFile(path);
  const changed = new Date(Number(stats.mtimeMs));
  const facts = { mimeType, size, changed };
  if (mimeType.startsWith('image/')) return { ...facts, pixels: imageSize(head) };
  if (!/^(?:audio|video)\//.test(mimeType)) return facts;
  const tail = size <= head.length ? head : await readTail(path, size, TAIL_BYTES);
  return { ...facts, seconds: durationSeconds({ head, tail, size }) };
}

export async function readTail(path: string, size: number, maxBytes: number): Promise<Uint8Array> {
  const tail = Buffer.alloc(maxBytes);
  const bytesRead = await withHandle(open(path, 'r'), (file) =>
    fillBuffer(file, tail, Math.max(0, size - maxBytes)),
  );
  return tail.subarray(0, bytesRead);
}
