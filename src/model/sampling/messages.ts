import { decodeBase64 } from '../../base/base64.ts';
import { describeSize } from '../../base/size.ts';
import type {
  AssistantPart,
  CallResult,
  ChatModel,
  ContentPart,
  ModelMessage,
  ModelTool,
} from '../../ports/models.ts';
import type { SamplingMessage, SamplingPart, SamplingRequest } from '../../ports/servers.ts';
import { FIRST_WORD, mergeMessages, textPart, userText } from '../request/messages.ts';
import { acceptableSchema, stripTags } from '../request/tools.ts';

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1024;
const VALID_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const INSTRUCTIONS: Readonly<Record<string, string>> = {
  required: 'Answer with a call of one of the tools.',
  none: 'Answer without calling a tool.',
};

type Media = Extract<SamplingPart, { kind: 'image' | 'audio' }>;

/** Converts the messages of a server's request for the model. The first one is from the user. */
export function samplingMessages(
  { messages }: SamplingRequest,
  model: Pick<ChatModel, 'accepts'>,
  tools: SamplingTools,
): readonly ModelMessage[] {
  const names = new Map<string, string>();
  const converted = messages.map((message): ModelMessage => {
    for (const part of message.parts) {
      if (part.kind === 'call') names.set(part.id, tools.modelName(part.name));
    }
    if (message.role === 'assistant') {
      return { role: 'assistant', parts: message.parts.flatMap((part) => assistantPart(part, tools)) };
    }
    const results = callResults(message, model, names);
    return results.length > 0
      ? { role: 'tool', results }
      : { role: 'user', parts: contents(message.parts, model) };
  });
  const merged = mergeMessages(converted);
  return merged[0] === undefined || merged[0].role === 'assistant'
    ? [userText(FIRST_WORD), ...merged]
    : merged;
}

/** `[image 1: image/png, 12.0 KB]`, with a sanitized media type. */
export function describeMedia({ kind, mimeType, data }: Media, number: number, note = ''): string {
  const type = mimeType.replace(/[^\w.+/-]/g, '?').slice(0, 60);
  const size = describeSize(Math.floor((data.replace(/[\s=]/g, '').length * 3) / 4));
  return `[${kind} ${number}: ${type}, ${size}${note}]`;
}

function assistantPart(part: SamplingPart, tools: SamplingTools): readonly AssistantPart[] {
  switch (part.kind) {
    case 'text':
      return [part];
    case 'call':
      return [{ ...part, name: tools.modelName(part.name) }];
    case 'result':
      return [];
    default:
      // No provider accepts images or audio in an assistant message.
      return [{ kind: 'text', text: describeMedia(part, 1) }];
  }
}

function callResults(
  { parts }: SamplingMessage,
  model: Pick<ChatModel, 'accepts'>,
  names: ReadonlyMap<string, string>,
): readonly CallResult[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'result') return [];
    const { id, isError } = part;
    const found = contents(part.parts, model, isImage);
    // Several providers refuse an empty result.
    const content = found.length > 0 ? found : [textPart('(nothing)')];
    return [{ id, name: names.get(id) ?? 'tool', isError, parts: content }];
  });
}

function contents(
  parts: readonly SamplingPart[],
  model: Pick<ChatModel, 'accepts'>,
  isAllowed: (part: Media) => boolean = () => true,
): readonly ContentPart[] {
  return parts.flatMap((part, at): readonly ContentPart[] => {
    if (part.kind === 'text') return part.text === '' ? [] : [part];
    if (part.kind === 'call' || part.kind === 'result') return [];
    const number = parts.slice(0, at + 1).filter(({ kind }) => kind === part.kind).length;
    const decoded = decodeBase64(part.data);
    const isSent = decoded.ok && isAllowed(part) && model.accepts(part.mimeType);
    if (!isSent) return [textPart(describeMedia(part, number, '; it could not be sent'))];
    const { bytes } = decoded;
    const name = `${part.kind} ${number}`;
    return [{ kind: 'file', name, mimeType: part.mimeType, size: bytes.length, read: async () => bytes }];
  });
}

function isImage({ mimeType }: Media): boolean {
  return mimeType.startsWith('image/');
}

/** The tools of a server's request under names that every provider accepts, and the reverse mapping. */
export class SamplingTools {
  readonly forModel: readonly ModelTool[];
  /** The tool choice in words, because a request has no field for it. */
  readonly instruction: string;
  readonly mayBeCalled: boolean;
  readonly #modelNames = new Map<string, string>();
  readonly #ids: Set<string>;

  constructor({ tools = [], toolChoice, messages }: SamplingRequest) {
    const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.kind === 'call'));
    this.mayBeCalled = tools.length > 0 && toolChoice !== 'none';
    this.instruction = tools.length === 0 ? '' : (INSTRUCTIONS[toolChoice ?? 'auto'] ?? '');
    this.#ids = new Set(calls.map(({ id }) => id));
    for (const { name } of [...tools, ...calls]) this.#nameTool(name);
    // Some providers refuse earlier calls without the definitions of their tools.
    const isNeeded = this.mayBeCalled || calls.length > 0;
    this.forModel = (isNeeded ? tools : []).map((tool) => ({
      name: this.modelName(tool.name),
      tool: { server: '', tool: tool.name },
      description: stripTags(tool.description).slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
      inputSchema: acceptableSchema(tool.inputSchema),
    }));
  }

  modelName(name: string): string {
    return this.#modelNames.get(name) ?? name;
  }

  /** An unknown name stays as it is; the server refuses the call. */
  serverName(name: string): string {
    for (const [own, shown] of this.#modelNames) if (shown === name) return own;
    return name;
  }

  nextCallId(): string {
    let number = this.#ids.size + 1;
    while (this.#ids.has(`call_${number}`)) number += 1;
    this.#ids.add(`call_${number}`);
    return `call_${number}`;
  }

  #nameTool(name: string): void {
    if (this.#modelNames.has(name)) return;
    const taken = new Set(this.#modelNames.values());
    const clean = `_${name.replace(/[^A-Za-z0-9_-]/g, '_')}`;
    let valid = name;
    for (let number = 1; !VALID_NAME.test(valid) || taken.has(valid); number += 1) {
      valid = `${clean.slice(0, MAX_NAME_CHARS - 5)}_${number}`;
    }
    this.#modelNames.set(name, valid);
  }
}
