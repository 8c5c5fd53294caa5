import { describeSize } from '../../base/size.ts';
import { moveFiles } from '../../model/request/messages.ts';
import type { ContentPart, FilePart, ModelMessage, ModelRequest } from '../../ports/models.ts';

/** A message of VS Code's language model API, which has no system or tool role. */
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

/** Files that the model does not accept are replaced by a line that describes them. */
export function editorMessages(
  { system, messages }: ModelRequest,
  accepts: Accepts,
): readonly EditorMessage[] {
  // The API has no system role, so the system prompt is the first user message.
  const first: EditorMessage = { role: 'user', parts: text(system) };
  const rest = moveFiles(messages, () => false).map((message) => editorMessage(message, accepts));
  return [first, ...rest].filter(({ parts }) => parts.length > 0);
}

export function previewMessages(messages: readonly EditorMessage[]): unknown {
  return messages.map(({ role, parts }) => ({ role, content: parts.map(previewPart) }));
}

export function textOf(messages: readonly EditorMessage[]): string {
  const partText = (part: EditorPart): string => {
    if (part.kind === 'text') return part.text;
    if (part.kind === 'call') return `${part.name}\n${JSON.stringify(part.input)}`;
    return part.kind === 'result' ? part.content.map(partText).join('\n') : '';
  };
  return messages.flatMap(({ parts }) => parts.map(partText)).join('\n');
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
      // The API has no flag for errors.
      content: [
        ...text(isError ? 'The tool reported an error:' : ''),
        ...parts.flatMap((part) => content(part, accepts)),
      ],
    }));
    return { role: 'user', parts };
  }
  const parts = message.parts.flatMap((part): readonly EditorPart[] => {
    if (part.kind === 'text') return text(part.text);
    // The files are in messages of the user. The stable API has no reasoning parts, and signatures are only valid for their provider.
    if (part.kind === 'reasoning' || part.kind === 'file') return [];
    return [{ kind: 'call', id: part.id, name: part.name, input: part.arguments }];
  });
  return { role: 'assistant', parts };
}

function content(part: ContentPart, accepts: Accepts): readonly EditorContent[] {
  if (part.kind === 'text') return text(part.text);
  if (accepts(part.mimeType)) return [{ kind: 'image', file: part }];
  return text(`[${part.name}: ${part.mimeType}, ${describeSize(part.size)}; not sent to this model]`);
}

/** Several providers reject empty text. */
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
