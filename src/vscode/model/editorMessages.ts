import { describeSize } from '../../base/size.ts';
import type { ContentPart, FilePart, ModelMessage, ModelRequest } from '../../ports/models.ts';

/** A request in the words of the editor's language models, which know users and assistants and nobody else. */
export interface EditorMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly EditorPart[];
}

export type EditorPart =
  | EditorContent
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly kind: 'result'; readonly id: string; readonly content: readonly EditorContent[] };

export type EditorContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly file: FilePart };

/** `accepts` says which files can be sent; in place of any other stands a line that says what it was. */
export function editorMessages(
  { system, messages }: ModelRequest,
  accepts: (mimeType: string) => boolean,
): readonly EditorMessage[] {
  // There is no role for it, so the system's words come first, as the user's.
  const first: EditorMessage = { role: 'user', parts: text(system) };
  const rest = messages.map((message) => editorMessage(message, accepts));
  return [first, ...rest].filter(({ parts }) => parts.length > 0);
}

/** What would be sent, for a person to read: no bytes, only what they are. */
export function previewMessages(messages: readonly EditorMessage[]): unknown {
  return messages.map(({ role, parts }) => ({ role, content: parts.map(previewPart) }));
}

/** All the words of some messages; how many tokens they are is close to what the request has. */
export function wordsOf(messages: readonly EditorMessage[]): string {
  const words = (part: EditorPart): string => {
    if (part.kind === 'text') return part.text;
    if (part.kind === 'call') return `${part.name}\n${JSON.stringify(part.input)}`;
    return part.kind === 'result' ? part.content.map(words).join('\n') : '';
  };
  return messages.flatMap(({ parts }) => parts.map(words)).join('\n');
}

type Accepts = (mimeType: string) => boolean;

function editorMessage(message: ModelMessage, accepts: Accepts): EditorMessage {
  if (message.role === 'user') {
    return { role: 'user', parts: message.parts.flatMap((part) => content(part, accepts)) };
  }
  if (message.role === 'tool') {
    const parts = message.results.map(({ id, isError, parts }) => ({
      kind: 'result' as const,
      id,
      // The API has no flag for it.
      content: [
        ...text(isError ? 'The tool reported an error:' : ''),
        ...parts.flatMap((part) => content(part, accepts)),
      ],
    }));
    return { role: 'user', parts };
  }
  const parts = message.parts.flatMap((part): readonly EditorPart[] => {
    if (part.kind === 'text') return text(part.text);
    // Reasoning has no place in the stable API, and its signatures are for the provider that made them.
    if (part.kind === 'reasoning') return [];
    return [{ kind: 'call', id: part.id, name: part.name, input: part.arguments }];
  });
  return { role: 'assistant', parts };
}

function content(part: ContentPart, accepts: Accepts): readonly EditorContent[] {
  if (part.kind === 'text') return text(part.text);
  if (accepts(part.mimeType)) return [{ kind: 'image', file: part }];
  return text(`[${part.name}: ${part.mimeType}, ${describeSize(part.size)}; not sent to this model]`);
}

/** Several providers refuse text that is empty. */
function text(words: string): readonly (EditorContent & { readonly kind: 'text' })[] {
  return words.trim() === '' ? [] : [{ kind: 'text', text: words }];
}

function previewPart(part: EditorPart): unknown {
  if (part.kind === 'image') {
    const { name, mimeType, size } = part.file;
    return { kind: 'image', name, mimeType, data: `(${size} bytes)` };
  }
  return part.kind === 'result' ? { ...part, content: part.content.map(previewPart) } : part;
}
