import type {
  JSONObject,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { mapConcurrently } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { SENT_TYPES } from '../../media/imageLimits.ts';
import type {
  AssistantPart,
  CallResult,
  ContentPart,
  FilePart,
  ModelMessage,
  ModelRequest,
} from '../../ports/models.ts';
import { describeUnsent, ERROR_LEAD } from '../request/messages.ts';
import { ModelError, stopped } from './modelError.ts';
import type { Wire } from './wire.ts';

interface PromptOptions {
  readonly wire: Wire;
  readonly model: string;
  readonly bytes: FileBytes;
  readonly sendReasoning: boolean;
}

/** Converts a request for the SDK. The same turns always give the same prompt, so that providers can cache it. */
export function toPrompt(
  { system, messages }: Pick<ModelRequest, 'system' | 'messages'>,
  options: PromptOptions,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (system.trim() !== '') prompt.push({ role: 'system', content: system });
  for (const group of groupResults(messages)) prompt.push(...toMessages(group, options));
  return prompt;
}

type Group =
  | Exclude<ModelMessage, { role: 'tool' }>
  | { readonly role: 'tool'; readonly results: CallResult[] };

/** Consecutive results belong to one step. */
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
  // All providers refuse messages without content.
  if (group.role === 'user') {
    const parts = acceptedParts(group.parts, options.wire.files);
    const content = parts.map((part) => toContent(part, options.bytes));
    return content.length === 0 ? [] : [{ role: 'user', content }];
  }
  const content = group.parts.flatMap((part) => toAssistantPart(part, options));
  // Providers refuse trailing reasoning, which is left when a reply is interrupted early.
  while (content.at(-1)?.type === 'reasoning') content.pop();
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

/** Leaves out blank text, which some providers refuse, and describes files that the model does not accept. */
function acceptedParts(parts: readonly ContentPart[], accepts: ReadonlySet<string>): readonly ContentPart[] {
  return parts.flatMap((part): readonly ContentPart[] => {
    if (part.kind === 'text') return part.text.trim() === '' ? [] : [part];
    return [accepts.has(part.mimeType) ? part : { kind: 'text', text: describeUnsent(part) }];
  });
}

function toContent(part: ContentPart, bytes: FileBytes): LanguageModelV4TextPart | LanguageModelV4FilePart {
  return part.kind === 'text' ? { type: 'text', text: part.text } : toFileContent(part, bytes);
}

function toFileContent(part: FilePart, bytes: FileBytes): LanguageModelV4FilePart {
  const data = { type: 'data' as const, data: bytes.get(part) ?? '' };
  return { type: 'file', filename: part.name, mediaType: part.mimeType, data };
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

function toAssistantPart(part: AssistantPart, options: PromptOptions): AssistantContent {
  const kept = ownMetadata(part, options.wire);
  const withOptions = kept ? { providerOptions: { [options.wire.optionsKey]: kept } } : {};
  switch (part.kind) {
    case 'text':
      // Gemini may sign an empty text.
      if (part.text.trim() === '' && kept?.['thoughtSignature'] === undefined) return [];
      return [{ type: 'text', text: part.text, ...withOptions }];
    case 'reasoning':
      // Providers ignore or refuse reasoning without their own signature.
      if (kept === undefined || !options.sendReasoning) return [];
      return [{ type: 'reasoning', text: part.text, ...withOptions }];
    case 'file':
      return [{ ...toFileContent(part, options.bytes), ...withOptions }];
    case 'call':
      return [{ type: 'tool-call', ...callName(part), input: part.arguments, ...withOptions }];
  }
}

function callName({ id, name }: { readonly id: string; readonly name: string }) {
  return { toolCallId: toWireId(id), toolName: name };
}

function ownMetadata({ metadata }: AssistantPart, { metadataKey }: Wire): JSONObject | undefined {
  const own = metadata?.[metadataKey];
  return own !== undefined && isJsonObject(own) ? own : undefined;
}

/** Sufficient, because the value was parsed from JSON. */
function isJsonObject(value: Readonly<Record<string, unknown>>): value is JSONObject {
  return !Array.isArray(value);
}

export function holdsReasoning(prompt: LanguageModelV4Prompt): boolean {
  return prompt.some(
    (message) => message.role === 'assistant' && message.content.some(({ type }) => type === 'reasoning'),
  );
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];

/**
 * The results of one step. Files that a result cannot contain follow in one user message: as base64 text they would be
 * expensive and useless.
 */
function toToolMessages(
  results: readonly CallResult[],
  options: PromptOptions,
): readonly LanguageModelV4Message[] {
  const placed = results.map((result) => ({ result, ...placeFiles(result, options) }));
  const content = placed.map(
    ({ result, parts }): LanguageModelV4ToolResultPart => ({
      type: 'tool-result',
      ...callName(result),
      output: toOutput(result, parts, options),
    }),
  );
  const following = placed.flatMap((each) => each.following);
  // A single file needs no label: the result says that it follows.
  const shown = following.flatMap(({ label, file }): UserContent => {
    const sent = toFileContent(file, options.bytes);
    return following.length === 1 ? [sent] : [{ type: 'text', text: label }, sent];
  });
  const toolMessage: LanguageModelV4Message = { role: 'tool', content };
  return shown.length > 0 ? [toolMessage, { role: 'user', content: shown }] : [toolMessage];
}

/** The parts of a result, with a line for each file that follows it. */
function placeFiles(result: CallResult, { wire, model }: PromptOptions) {
  const takesImages = wire.takesImagesInResults(model);
  const following: { readonly label: string; readonly file: FilePart }[] = [];
  let images = 0;
  const parts = acceptedParts(result.parts, wire.files).map((part): ContentPart => {
    const isImage = part.kind === 'file' && SENT_TYPES.has(part.mimeType);
    if (part.kind === 'text' || (isImage && takesImages)) return part;
    if (isImage) images += 1;
    const name = isImage ? `${images}` : part.name;
    const source = `of the result of ${result.name} (call ${toWireId(result.id)}):`;
    following.push({ label: `${isImage ? 'Image' : 'File'} ${name} ${source}`, file: part });
    return { kind: 'text', text: `[${isImage ? 'image' : 'file'} ${name}: see the next message]` };
  });
  return { parts, following };
}

function toOutput(
  { isError }: CallResult,
  parts: readonly ContentPart[],
  { wire, bytes }: PromptOptions,
): LanguageModelV4ToolResultOutput {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  if (texts.length < parts.length) {
    // An output with images cannot be marked as an error.
    const lead = isError ? [{ type: 'text' as const, text: ERROR_LEAD }] : [];
    return { type: 'content', value: [...lead, ...parts.map((part) => toContent(part, bytes))] };
  }
  const value = texts.length === 0 ? '(no content)' : texts.join('\n\n');
  if (!isError) return { type: 'text', value };
  return wire.errors === 'marked'
    ? { type: 'error-text', value }
    : { type: 'text', value: `${ERROR_LEAD}\n\n${value}` };
}

/** Anthropic accepts only these characters in an id; users may have written others. */
function toWireId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

const MAX_PARALLEL_READS = 4;

/** As base64. */
type FileBytes = ReadonlyMap<FilePart, string>;

export async function readFiles(files: readonly FilePart[], signal: AbortSignal): Promise<FileBytes> {
  const read = async (file: FilePart) => [file, await readFile(file, signal)] as const;
  return new Map(await mapConcurrently(MAX_PARALLEL_READS, [...new Set(files)], read));
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
