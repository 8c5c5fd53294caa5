import type {
  JSONObject,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider';
import type { AssistantPart, CallResult, ContentPart, ModelMessage } from '../../ports.ts';
import type { FileBytes } from './files.ts';
import { describeUnsent, toFile, toWireId } from './parts.ts';
import { toToolMessages } from './toolResults.ts';
import type { Wire } from './wire.ts';

export interface PromptSource {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
}

export interface PromptOptions {
  readonly wire: Wire;
  readonly model: string;
  readonly bytes: FileBytes;
  /** False when the provider would not have its own reasoning back. */
  readonly sendReasoning: boolean;
}

/**
 * The chat as the packages want it. What was sent for an earlier turn is sent the same way again, so that
 * the provider finds the beginning of the request in its cache.
 */
export function toPrompt({ system, messages }: PromptSource, options: PromptOptions): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (system.trim() !== '') prompt.push({ role: 'system', content: system });
  for (const group of groupResults(messages)) prompt.push(...toMessages(group, options));
  return prompt;
}

type Group =
  | Exclude<ModelMessage, { role: 'tool' }>
  | { readonly role: 'tool'; readonly results: CallResult[] };

/** Results that follow each other belong to one step, whoever wrote them as several messages. */
function groupResults(messages: readonly ModelMessage[]): readonly Group[] {
  const groups: Group[] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role !== 'tool') groups.push(message);
    else if (last?.role === 'tool') last.results.push(...message.results);
    else groups.push({ role: 'tool', results: [...message.results] });
  }
  return groups;
}

function toMessages(group: Group, options: PromptOptions): readonly LanguageModelV4Message[] {
  if (group.role === 'tool') return group.results.length === 0 ? [] : toToolMessages(group.results, options);
  // A message without content is refused everywhere.
  if (group.role === 'user') {
    const content = group.parts.flatMap((part) => toUserPart(part, options));
    return content.length === 0 ? [] : [{ role: 'user', content }];
  }
  const content = group.parts.flatMap((part) => toAssistantPart(part, options));
  // Of a reply that was cut while the model still thought: nobody takes a thought that nothing follows.
  while (content.at(-1)?.type === 'reasoning') content.pop();
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

function toUserPart(
  part: ContentPart,
  { wire, bytes }: PromptOptions,
): readonly (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  if (part.kind === 'text') return toText(part.text);
  if (!wire.files.has(part.mimeType)) return toText(describeUnsent(part));
  return [toFile(part, bytes)];
}

/** Text of nothing but space is refused by some. */
function toText(text: string): readonly LanguageModelV4TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

function toAssistantPart(part: AssistantPart, options: PromptOptions): AssistantContent {
  const kept = ownMetadata(part, options.wire);
  const providerOptions = kept && { [options.wire.optionsKey]: kept };
  const withOptions = providerOptions === undefined ? {} : { providerOptions };
  switch (part.kind) {
    case 'text':
      // Gemini may sign a text that is empty.
      if (part.text.trim() === '' && kept?.['thoughtSignature'] === undefined) return [];
      return [{ type: 'text', text: part.text, ...withOptions }];
    case 'reasoning':
      // Without the provider's own signature it would count for nothing, or be refused.
      if (kept === undefined || !options.sendReasoning) return [];
      return [{ type: 'reasoning', text: part.text, ...withOptions }];
    case 'call':
      return [
        {
          type: 'tool-call',
          toolCallId: toWireId(part.id),
          toolName: part.name,
          input: part.arguments,
          ...withOptions,
        },
      ];
  }
}

function ownMetadata({ metadata }: AssistantPart, { metadataKey }: Wire): JSONObject | undefined {
  const own = metadata?.[metadataKey];
  return own !== undefined && isJsonObject(own) ? own : undefined;
}

/** It was JSON in the file. */
function isJsonObject(value: Readonly<Record<string, unknown>>): value is JSONObject {
  return !Array.isArray(value);
}

/** Whether anything in the prompt depends on what the provider signed. */
export function holdsReasoning(prompt: LanguageModelV4Prompt): boolean {
  return prompt.some(
    (message) => message.role === 'assistant' && message.content.some(({ type }) => type === 'reasoning'),
  );
}
