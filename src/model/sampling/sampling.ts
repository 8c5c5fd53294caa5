import { readArguments } from '../../chat/format/calls.ts';
import type {
  ChatModel,
  FinishReason,
  ModelEvent,
  ModelFailure,
  ModelTool,
  SamplingAnswer,
  SamplingPart,
  SamplingRequest,
} from '../../ports.ts';
import { countAttempt, NO_ATTEMPTS, nextTry, waitWithCountdown } from '../providers/retry.ts';
import { acceptableSchema, stripTags } from '../request/tools.ts';
import { samplingMessages } from './messages.ts';

export interface SamplingOptions {
  /** Resolves after the time; a test need not wait. */
  readonly timer?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Asks the model what a server wants to know. Calls of tools go back to the server, which makes them itself.
 * Rejects with a message fit for the user.
 */
export async function answerSampling(
  request: SamplingRequest,
  model: ChatModel,
  signal: AbortSignal,
  options: SamplingOptions = {},
): Promise<SamplingAnswer> {
  for (let attempts = NO_ATTEMPTS; ; ) {
    try {
      return await ask(request, model, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isModelFailure(error)) throw error;
      attempts = countAttempt(attempts, { begun: error.begun === true, progress: false });
      const next = nextTry(error, attempts, Math.random);
      if (next.kind === 'giveUp') throw new Error([error.message, next.reason ?? ''].join(' ').trim());
      await waitWithCountdown(next.ms, { signal, onTick: () => {}, ...options });
      signal.throwIfAborted();
    }
  }
}

async function ask(request: SamplingRequest, model: ChatModel, signal: AbortSignal): Promise<SamplingAnswer> {
  const tools = new SamplingTools(request);
  const gathered = new GatheredAnswer(request, tools);
  const { maxTokens, temperature } = request;
  const asked = {
    system: [request.system ?? '', tools.instruction].filter((text) => text !== '').join('\n\n'),
    messages: samplingMessages(request, model, tools),
    tools: tools.forModel,
    maxTokens,
    temperature,
  };
  for await (const event of model.stream(asked, signal)) {
    const stopReason = gathered.add(event);
    if (stopReason) return { model: model.name, parts: gathered.parts, stopReason };
  }
  signal.throwIfAborted();
  throw new Error(`The answer of ${model.name} broke off. Try again.`);
}

/** What the model has said so far, up to where the server wants it to stop. */
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

  /** Why the answer is whole now, if it is. */
  add(event: ModelEvent): SamplingAnswer['stopReason'] | undefined {
    switch (event.kind) {
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

  /** Not every provider knows such sequences, so they are looked for here. True when one has come. */
  #addText(text: string): boolean {
    const last = this.parts.at(-1);
    const before = last?.kind === 'text' ? last.text : '';
    const whole = before + text;
    // A sequence may have begun in what came before.
    const from = Math.max(0, before.length - this.#longestStop);
    const found = this.#stops.map((stop) => whole.indexOf(stop, from)).filter((at) => at >= 0);
    const end = found.length === 0 ? whole.length : Math.min(...found);
    const part = { kind: 'text', text: whole.slice(0, end) } as const;
    if (last?.kind === 'text') this.parts[this.parts.length - 1] = part;
    else if (part.text !== '') this.parts.push(part);
    return found.length > 0;
  }

  #addCall({ name, argumentsText }: Extract<ModelEvent, { kind: 'call' }>): void {
    const read = readArguments(argumentsText);
    if (!read.ok) throw new Error(`The model called ${name}, but could not be understood. ${read.message}`);
    this.parts.push({
      kind: 'call',
      id: this.#tools.nextCallId(),
      name: this.#tools.serverName(name),
      arguments: read.value,
    });
  }

  #finish(reason: FinishReason): SamplingAnswer['stopReason'] {
    if (reason === 'refused') throw new Error('The provider of the model refused to answer this.');
    if (this.parts.some(({ kind }) => kind === 'call')) return 'toolUse';
    return reason === 'length' ? 'maxTokens' : 'endTurn';
  }
}

function isModelFailure(error: unknown): error is ModelFailure {
  return error instanceof Error && Reflect.get(error, 'kind') === 'modelFailure';
}

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1024;
const FIT_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

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

const INSTRUCTIONS: Readonly<Record<string, string>> = {
  required: 'Answer with a call of one of the tools.',
  none: 'Answer without calling a tool.',
};
