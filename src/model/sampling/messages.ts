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
import type { SamplingMessage, SamplingPart, SamplingRequest } from '../../ports/requests.ts';

import { acceptableSchema, stripTags } from '../request/tools.ts';

const MAX_NAME_CHARS = 64;

const MAX_DESCRIPTION_CHARS = 1024;

const FIT_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const INSTRUCTIONS: Readonly<Record<string, string>> = {
  required: 'Answer with a call of one of the tools.',
  none: 'Answer without calling a tool.',
};

type Media = Extract<SamplingPart, { kind: 'image' | 'audio' }>;

/** The messages of a server's request as a model takes them. */
export function samplingMessages(
  { messages }: SamplingRequest,
  model: Pick<ChatModel, 'accepts'>,
  tools: SamplingTools,
): readonly ModelMessage[] {
  const names = new Map<string, string>();
  const converted = messages.map((message): ModelMessage => {
    for (const part of message.parts)
      if (part.kind === 'call') names.set(part.id, tools.modelName(part.name));
    if (message.role === 'assistant') {
      return { role: 'assistant', parts: message.parts.flatMap((part) => assistantPart(part, tools)) };
    }
    const results = callResults(message, model, names);
    return results.length > 0
      ? { role: 'tool', results }
      : { role: 'user', parts: contents(message.parts, model) };
  });
  return takeTurns(converted);
}

/** `[image 1: image/png, 12.0 KB]`; a server's own words about its type are cut down to what a type is made of. */
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
      // No provider takes pictures as a model's own words.
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
    const told = contents(part.parts, model, isImage);
    // Several providers refuse a result with nothing in it.
    const some: readonly ContentPart[] = told.length > 0 ? told : [{ kind: 'text', text: '(nothing)' }];
    return [{ id: part.id, name: names.get(part.id) ?? 'tool', isError: part.isError, parts: some }];
  });
}

function contents(
  parts: readonly SamplingPart[],
  model: Pick<ChatModel, 'accepts'>,
  isTaken: (part: Media) => boolean = () => true,
): readonly ContentPart[] {
  return parts.flatMap((part, at): readonly ContentPart[] => {
    if (part.kind === 'text') return part.text === '' ? [] : [part];
    if (part.kind === 'call' || part.kind === 'result') return [];
    const number = parts.slice(0, at + 1).filter(({ kind }) => kind === part.kind).length;
    const decoded = decodeBase64(part.data);
    const isSent = decoded.ok && isTaken(part) && model.accepts(part.mimeType);
    if (!isSent) return [{ kind: 'text', text: describeMedia(part, number, '; it could not be sent') }];
    const { bytes } = decoded;
    const name = `${part.kind} ${number}`;
    return [{ kind: 'file', name, mimeType: part.mimeType, size: bytes.length, read: async () => bytes }];
  });
}

function isImage({ mimeType }: Media): boolean {
  return mimeType.startsWith('image/');
}

/** Providers want the roles to take turns, the user first, and nothing that is empty. */
function takeTurns(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const turns: ModelMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role !== 'tool' && message.parts.length === 0) continue;
    if (message.role === 'user' && last?.role === 'user') {
      turns[turns.length - 1] = { role: 'user', parts: [...last.parts, ...message.parts] };
    } else if (message.role === 'assistant' && last?.role === 'assistant') {
      turns[turns.length - 1] = { role: 'assistant', parts: [...last.parts, ...message.parts] };
    } else turns.push(message);
  }
  return turns[0] === undefined || turns[0].role === 'assistant' ? [BEGINNING, ...turns] : turns;
}

const BEGINNING: ModelMessage = {
  role: 'user',
  parts: [{ kind: 'text', text: '(You have the first word.)' }],
};

/** The tools of a server's request under names that every provider takes, and the way back. */
export class SamplingTools {
  readonly forModel: readonly ModelTool[];
  /** What the request cannot say in another way. */
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
    // Some providers take no calls of earlier turns without the tools that were called.
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

  /** A name that the model made up is the server's to refuse. */
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
    let fit = name;
    for (let number = 1; !FIT_NAME.test(fit) || taken.has(fit); number += 1) {
      fit = `${clean.slice(0, MAX_NAME_CHARS - 5)}_${number}`;
    }
    this.#modelNames.set(name, fit);
  }
}
