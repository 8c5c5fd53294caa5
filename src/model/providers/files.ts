import { mapConcurrently } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import type { FilePart, ModelMessage } from '../../ports/models.ts';

import { ModelError, stopped } from './failure.ts';

/** More at a time would only wait for the same disk, and hold more in memory. */
const MAX_READS = 4;

/** The bytes of a request's files, as base64. */
export type FileBytes = ReadonlyMap<FilePart, string>;

export async function readFiles(files: readonly FilePart[], signal: AbortSignal): Promise<FileBytes> {
  const read = async (file: FilePart) => [file, await readFile(file, signal)] as const;
  return new Map(await mapConcurrently(MAX_READS, [...new Set(files)], read));
}

/** Every file of the messages, whether it will be sent or not. */
export function filesOf(messages: readonly ModelMessage[]): readonly FilePart[] {
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return [];
    const parts = message.role === 'user' ? message.parts : message.results.flatMap(({ parts }) => parts);
    return parts.filter((part) => part.kind === 'file');
  });
}

async function readFile(file: FilePart, signal: AbortSignal): Promise<string> {
  try {
    const bytes = await file.read(signal);
    // The packages' own encoding goes byte by byte, which holds everything up for a large image.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  } catch (cause) {
    if (signal.aborted) throw stopped();
    const reason = messageOf(cause);
    throw new ModelError({ message: `Could not read ${file.name}: ${reason}`, cause });
  }
}
