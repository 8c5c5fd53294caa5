import { describeSize } from '../../base/size.ts';
import type { ContentPart, FilePart, ModelMessage } from '../../ports/models.ts';

/** For conversations that begin with the model. */
export const FIRST_WORD = '(You have the first word.)';

/** Before the result of a call that failed, where a request cannot mark it. */
export const ERROR_LEAD = 'The tool reported an error:';

export function textPart(text: string): ContentPart {
  return { kind: 'text', text };
}

export function userText(text: string): ModelMessage {
  return { role: 'user', parts: [textPart(text)] };
}

/** The text in place of a file that the model does not accept: sending it would break every later turn too. */
export function describeUnsent({ name, mimeType, size }: FilePart): string {
  return `[${name}: ${mimeType}, ${describeSize(size)}; this model does not accept such files]`;
}

export function filesOf(message: ModelMessage): readonly FilePart[] {
  if (message.role === 'assistant') return [];
  const parts = message.role === 'user' ? message.parts : message.results.flatMap((result) => result.parts);
  return parts.filter((part) => part.kind === 'file');
}

/** Changes the content of users and tools. */
export function mapContent(
  message: ModelMessage,
  change: (parts: readonly ContentPart[]) => readonly ContentPart[],
): ModelMessage {
  if (message.role === 'assistant') return message;
  if (message.role === 'user') return { role: 'user', parts: change(message.parts) };
  const results = message.results.map((result) => ({ ...result, parts: change(result.parts) }));
  return { role: 'tool', results };
}

/** Removes empty messages and joins neighbors of the same role: providers expect alternating roles. */
export function mergeMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const merged: ModelMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (message.role !== 'tool' && message.parts.length === 0) continue;
    if (message.role === 'user' && last?.role === 'user') {
      merged[merged.length - 1] = { role: 'user', parts: [...last.parts, ...message.parts] };
    } else if (message.role === 'assistant' && last?.role === 'assistant') {
      merged[merged.length - 1] = { role: 'assistant', parts: [...last.parts, ...message.parts] };
    } else merged.push(message);
  }
  return merged;
}
