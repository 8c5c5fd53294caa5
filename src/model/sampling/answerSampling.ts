import { decodeBase64 } from '../../base/base64.ts';
import { describeSize } from '../../base/size.ts';
import { parseArguments } from '../../chat/format/callInfo.ts';
import { InlineReasoning, type ReadEvent } from '../../chat/reply/incoming.ts';
import type {
  AssistantPart,
  CallResult,
  ChatModel,
  ContentPart,
  FinishReason,
  ModelEvent,
  ModelMessage,
  ModelTool,
} from '../../ports/models.ts';
import type { SamplingAnswer, SamplingMessage, SamplingPart, SamplingRequest } from '../../ports/servers.ts';
import { type RetryOptions, withRetries } from '../providers/retry.ts';
import { FIRST_WORD, mergeMessages, textPart, userText } from '../request/messages.ts';
import {
  acceptableSchema,
  describeTool,
  fitDescriptions,
  MAX_TOOL_NAME_CHARS,
  VALID_TOOL_NAME,
} from '../request/modelTools.ts';

/**
 * Answers a server's request with a model. Tool calls go back to the server, which runs them.
 * Rejects with a message for the user.
 */
export function answerSampling(
  request: SamplingRequest,
  model: ChatModel,
  signal: AbortSignal,
  options: Pick<RetryOptions, 'timer'> = {},
): Promise<SamplingAnswer> {
  return withRetries(() => ask(request, model, signal), { signal, ...options });
}

async function ask(request: SamplingRequest, model: ChatModel, signal: AbortSignal): Promise<SamplingAnswer> {
  const tools = new SamplingTools(request);
  const gathered = new GatheredAnswer(request, tools);
  const { maxTokens, temperature } = request;
  const asked = {
    system: [request.system ?? '', tools.instruction].filter((text) => text !== '').join('\n\n'),
    messages: samplingMessages(request, model, tools),
    tools: fitDescriptions(tools.forModel, model.maxToolDescriptionChars).tools,
    maxTokens,
    temperature,
  };
  const inline = new InlineReasoning(true);
  for await (const event of model.stream(asked, signal)) {
    for (const each of inline.read(event)) {
      const stopReason = gathered.add(each);
      if (stopReason) return { model: model.name, parts: gathered.parts, stopReason };
    }
  }
  signal.throwIfAborted();
  throw new Error(`The response of ${model.name} ended unexpectedly. Try again.`);
}

/** The response so far, up to the first stop sequence. */
class GatheredAnswer {
  readonly parts: SamplingPart[] = [];
  readonly #tools: SamplingTools;
  readonly #stops: readonly string[];
  readonly #longestStop: number;

  constructor({ stopSequences = [] }: SamplingRequest, tools: SamplingTools) {
    this.#tools = tools;
    this.#stops = stopSequences.filter((stop) => stop !== '');
    this.#longestStop = Math.max(0, ...this.#stops.map((stop) => stop.length));
  }

  /** Returns the stop reason when the answer is complete. */
  add(event: ReadEvent): SamplingAnswer['stopReason'] | undefined {
    switch (event.kind) {
      case 'earlierReasoning':
        this.parts.length = 0;
        return undefined;
      case 'text':
        return this.#addText(event.text) ? 'stopSequence' : undefined;
      case 'call':
        if (this.#tools.mayBeCalled) this.#addCall(event);
        return undefined;
      case 'finish':
        return this.#finish(event.reason);
      default:
        return undefined;
    }
  }

  /** Returns whether a stop sequence was found. Not every provider supports them, so they are matched here. */
  #addText(text: string): boolean {
    const last = this.parts.at(-1);
    const before = last?.kind === 'text' ? last.text : '';
    const whole = before + text;
    // A sequence may begin in the text before.
    const from = Math.max(0, before.length - this.#longestStop);
    const found = this.#stops.map((stop) => whole.indexOf(stop, from)).filter((at) => at >= 0);
    const end = found.length === 0 ? whole.length : Math.min(...found);
    const part = { kind: 'text', text: whole.slice(0, end) } as const;
    if (last?.kind === 'text') this.parts[this.parts.length - 1] = part;
    else if (part.text !== '') this.parts.push(part);
    return found.length > 0;
  }

  #addCall({ name, argumentsText }: Extract<ModelEvent, { kind: 'call' }>): void {
    const read = parseArguments(argumentsText);
    if (!read.ok) throw new Error(`The model called ${name} with invalid arguments. ${read.message}`);
    this.parts.push({
      kind: 'call',
      id: this.#tools.nextCallId(),
      name: this.#tools.serverName(name),
      arguments: read.value,
    });
  }

  #finish(reason: FinishReason): SamplingAnswer['stopReason'] {
    if (reason === 'refused') throw new Error('The provider’s content filter refused the request.');
    if (this.parts.some(({ kind }) => kind === 'call')) return 'toolUse';
    return reason === 'length' ? 'maxTokens' : 'endTurn';
  }
}

const INSTRUCTIONS: Readonly<Record<string, string>> = {
  required: 'Respond by calling one of the tools.',
  none: 'Respond without calling a tool.',
};

type Media = Extract<SamplingPart, { kind: 'image' | 'audio' }>;

/** Converts the messages of a server's request for the model. The first one is from the user. */
function samplingMessages(
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
  const counts = { image: 0, audio: 0 };
  return parts.flatMap((part): readonly ContentPart[] => {
    if (part.kind === 'text') return part.text === '' ? [] : [part];
    if (part.kind === 'call' || part.kind === 'result') return [];
    counts[part.kind] += 1;
    const number = counts[part.kind];
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
class SamplingTools {
  readonly forModel: readonly ModelTool[];
  /** The tool choice in words, because a request has no field for it. */
  readonly instruction: string;
  readonly mayBeCalled: boolean;
  readonly #modelNames = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** The next number for names that differ only in characters that are not allowed. */
  readonly #numbers = new Map<string, number>();
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
      description: describeTool(tool.description),
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
    const clean = `_${name.replace(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, MAX_TOOL_NAME_CHARS - 5);
    let valid = name;
    let number = this.#numbers.get(clean) ?? 1;
    for (; !VALID_TOOL_NAME.test(valid) || this.#taken.has(valid); number += 1) valid = `${clean}_${number}`;
    this.#numbers.set(clean, number);
    this.#taken.add(valid);
    this.#modelNames.set(name, valid);
  }
}
