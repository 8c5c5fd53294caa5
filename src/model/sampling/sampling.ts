import { parseArguments } from '../../chat/format/calls.ts';
import type { ChatModel, FinishReason, ModelEvent } from '../../ports/models.ts';
import type { SamplingAnswer, SamplingPart, SamplingRequest } from '../../ports/servers.ts';
import { type RetryOptions, withRetries } from '../providers/retry.ts';
import { SamplingTools, samplingMessages } from './messages.ts';

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
    tools: tools.forModel,
    maxTokens,
    temperature,
  };
  for await (const event of model.stream(asked, signal)) {
    const stopReason = gathered.add(event);
    if (stopReason) return { model: model.name, parts: gathered.parts, stopReason };
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
