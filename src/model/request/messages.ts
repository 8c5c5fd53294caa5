import { describeSize } from '../../base/size.ts';
import type { AssistantPart, ContentPart, FilePart, ModelMessage, OwnFilePart } from '../../ports/models.ts';

/** For conversations that begin with the model. */
export const FIRST_WORD = '(The conversation starts with your message.)';

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
  const parts = message.role === 'tool' ? message.results.flatMap((result) => result.parts) : message.parts;
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

/**
 * Moves the files of replies into the next message of the user, except those that the provider takes back as they are.
 * In their place remains a line that says so.
 */
export function moveFiles(
  messages: readonly ModelMessage[],
  stays: (file: OwnFilePart) => boolean,
): readonly ModelMessage[] {
  const moved: ModelMessage[] = [];
  let held: ContentPart[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      const parts = message.parts.map((part): AssistantPart => {
        if (part.kind !== 'file' || stays(part)) return part;
        held.push(nameOf(part), part);
        return { kind: 'text', text: `[${part.mimeType}, asset:${part.name}: see the next message]` };
      });
      moved.push({ role: 'assistant', parts: joinTexts(parts) });
    } else if (message.role === 'user') {
      moved.push({ role: 'user', parts: [...held, ...message.parts] });
      held = [];
    } else moved.push(message);
  }
  return held.length === 0 ? moved : [...moved, { role: 'user', parts: held }];
}

/** The model needs an image's name to pass it to a tool. */
export function nameOf({ name }: FilePart): ContentPart {
  return textPart(`[asset:${name}]`);
}

/** Some providers get the texts of a reply without a gap between them. */
export function joinTexts(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  const joined: AssistantPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    const isPlain = (each: AssistantPart | undefined) =>
      each?.kind === 'text' && each.metadata === undefined && each.text.trim() !== '';
    if (last?.kind === 'text' && part.kind === 'text' && isPlain(last) && isPlain(part)) {
      joined[joined.length - 1] = { kind: 'text', text: `${last.text}\n\n${part.text}` };
    } else joined.push(part);
  }
  return joined;
}

/** Removes empty messages and joins neighbors of the same role: providers expect alternating roles. */
export function mergeMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const groups: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role !== 'tool' && message.parts.length === 0) continue;
    const last = groups.at(-1);
    if (last?.[0]?.role === message.role && message.role !== 'tool') last.push(message);
    else groups.push([message]);
  }
  return groups.flatMap(merged);
}

/** Messages of the same role as one. */
function merged(group: readonly ModelMessage[]): readonly ModelMessage[] {
  const [first] = group;
  if (!first || group.length === 1) return group;
  const parts = group.flatMap((message): readonly (ContentPart | AssistantPart)[] =>
    message.role === 'tool' ? [] : message.parts,
  );
  return [{ role: first.role, parts } as ModelMessage];
}
