import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { startTimer, unlessAborted } from '../../base/async.ts';
import type { ModelEvent } from '../../ports/models.ts';
import type { EndpointOptions } from './endpoint.ts';
import { EventReader } from './events.ts';
import {
  connectionLost,
  ModelError,
  type RequestContext,
  stopped,
  toFailure,
  wrongFormat,
} from './failure.ts';
import { classifyStreamEnd, type StreamEnd } from './streamEnd.ts';
import type { Wire } from './wire.ts';

/** Even the slowest models send keep-alives more often. */
export const STALL_MS = 5 * 60_000;

export interface StreamOptions {
  readonly wire: Wire;
  readonly context: RequestContext;
  readonly signal: AbortSignal;
  readonly createModel: (watch: Pick<EndpointOptions, 'onBytes' | 'onAnswer'>) => LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
  /** Asks for the whole reply at once. */
  readonly isWhole: boolean;
}

/** Sends one request. Closes the connection however the stream ends. */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<ModelEvent, void, undefined> {
  const { wire, context, signal } = options;
  const { host } = context;
  const stall = startTimer(STALL_MS);
  const closed = new AbortController();
  const requestSignal = AbortSignal.any([signal, stall.signal, closed.signal]);
  let end: StreamEnd | undefined;
  const events = new EventReader(wire, context, () => end?.hasEnded === true);
  const onAnswer = (begun: StreamEnd) => {
    end = begun;
  };
  try {
    signal.throwIfAborted();
    const model = options.createModel({ onBytes: () => stall.restart(), onAnswer });
    const call = { ...options.call, abortSignal: requestSignal };
    const asked = options.isWhole ? streamWhole(model.doGenerate(call)) : model.doStream(call);
    const { stream } = await unlessAborted(Promise.resolve(asked), requestSignal);
    const isFinished = yield* readStream(stream, requestSignal, events);
    if (!isFinished) throw connectionLost(context);
  } catch (error) {
    const isAborted = requestSignal.aborted;
    const found = isAborted ? abortFailure(signal, host) : toFailure(error, context);
    const failure = found.problem === 'cut' && end?.isForeign === true ? wrongFormat(context) : found;
    const outcome = classifyStreamEnd({
      hasEnded: end?.hasEnded === true,
      // A provider that stalls may still be processing the request.
      answered: end !== undefined || isAborted,
      hasOutput: events.hasOutput,
      problem: failure.problem,
    });
    if (outcome !== 'ended' || signal.aborted) throw new ModelError(failure, outcome);
    yield { kind: 'finish', reason: 'stop', usage: {} };
  } finally {
    stall.stop();
    closed.abort();
  }
}

/** A whole reply, in the parts of a stream. */
async function streamWhole(
  whole: PromiseLike<LanguageModelV4GenerateResult>,
): Promise<{ readonly stream: ReadableStream<LanguageModelV4StreamPart> }> {
  const { content, finishReason, usage } = await whole;
  const parts = content.flatMap((part, at) => streamParts(part, String(at)));
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.enqueue({ type: 'finish', finishReason, usage });
      controller.close();
    },
  });
  return { stream };
}

function streamParts(part: LanguageModelV4Content, id: string): readonly LanguageModelV4StreamPart[] {
  if (part.type !== 'text' && part.type !== 'reasoning') return [part];
  const { type, text, providerMetadata } = part;
  const about = { id, ...(providerMetadata && { providerMetadata }) };
  return [
    { type: `${type}-start`, ...about },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, ...about },
  ];
}

function abortFailure(signal: AbortSignal, host: string): ModelError {
  if (signal.aborted) return stopped();
  const message = `${host} has sent nothing for ${STALL_MS / 60_000} minutes.`;
  return new ModelError({ message, failure: { kind: 'lost', reason: message }, problem: 'cut' });
}

/** Returns whether there was a `finish` event. */
async function* readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  events: EventReader,
): AsyncGenerator<ModelEvent, boolean, undefined> {
  const reader = stream.getReader();
  for (;;) {
    // A stream may ignore the signal.
    const { done, value } = await unlessAborted(reader.read(), signal);
    if (done) return false;
    for (const event of events.read(value)) {
      yield event;
      if (event.kind === 'finish') return true;
    }
  }
}
