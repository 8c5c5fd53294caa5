import { messageOf } from '../../base/errors.ts';
import type { FilePart } from '../../ports/models.ts';

import { ModelError, stopped } from './failure.ts';

const MAX_PARALLEL_READS = 4;

/** As base64. */
export type FileBytes = ReadonlyMap<FilePart, string>;

export async function readFiles(files: readonly FilePart[], signal: AbortSignal): Promise<FileBytes> {
  const found = new Map<FilePart, string>();
  const pending = [...new Set(files)];
  const work = async (): Promise<void> => {
    for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
      found.set(file, await readFile(file, signal));
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL_READS, pending.length) }, work));
  return found;
}

async function readFile(file: FilePart, signal: AbortSignal): Promise<string> {
  try {
    const bytes = await file.read(signal);
    // The SDK encodes byte by byte, which blocks the event loop for large images.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  } catch (cause) {
    if (signal.aborted) throw stopped();
    throw new ModelError({ message: `Could not read ${file.name}: ${messageOf(cause)}`, cause });
  }
}
