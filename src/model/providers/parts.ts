import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import type { FilePart } from '../../ports.ts';
import { describeSize } from '../../result/summary.ts';
import type { FileBytes } from './files.ts';

export function toFile(part: FilePart, bytes: FileBytes): LanguageModelV4FilePart {
  const data = bytes.get(part) ?? '';
  return { type: 'file', filename: part.name, mediaType: part.mimeType, data: { type: 'data', data } };
}

/** What stands for a file that the model would not take: to send it would break every later turn too. */
export function describeUnsent({ name, mimeType, size }: FilePart): string {
  return `[${name}: ${mimeType}, ${describeSize(size)}; this model does not take such files]`;
}

/** Anthropic takes only these characters in an id; a person may have written others. */
export function toWireId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}
