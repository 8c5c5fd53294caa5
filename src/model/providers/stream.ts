import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { startTimer, unlessAborted } from '../../base/async.ts';
import type { MadeFile, ModelEvent } from '../../ports/models.ts';
import type { StreamEnd } from './endings.ts';
import { endingOf } from './endings.ts';
import { createEndpointFetch, type EndpointOptions, WholeReply } from './endpoint.ts';
import { EventReader } from './events.ts';
import type { StoredFile } from './madeFiles.ts';
import {
  connectionLost,
  ModelError,
  type RequestContext,
  reportedFailure,
  stopped,
  toFailure,
  wrongFormat,
} from './modelError.ts';
import type { Wire } from './wire.ts';

/** Even the slowest models send keep-alives more often. */
export const STALL_MS = 5 * 60_000;
/** Keep-alives alone do not keep a request open: the longest queue of a known provider takes ten minutes. */
export const KEEP_ALIVE_MS = 15 * 60_000;

export interface StreamOptions extends Pick<EndpointOptions, 'config' | 'fetch'> {
  readonly wire: Wire;
  readonly context: RequestContext;
  readonly signal: AbortSignal;
  readonly createModel: (fetch: typeof globalThis.fetch) => LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
  readonly openFile?: ((stored: StoredFile) => MadeFile) | undefined;
  /** Asks for the whole reply at once. */
  readonly isWhole: boolean;
}

/** Sends one request. Closes the connection however the stream ends. */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<ModelEvent, void, undefined> {
  const { wire, context, signal, config, fetch } = options;
  const stall = startTimer(STALL_MS);
  const keepAlive = startTimer(KEEP_ALIVE_MS);
  const closed = new AbortController();
  const requestSignal = AbortSignal.any([signal, stall.signal, keepAlive.signal, closed.signal]);
  let end: StreamEnd | undefined;
  const isReceived = () => end?.hasEnded === true;
  const events = new EventReader(wire, context, { isReceived, openFile: options.openFile });
  const onAnswer = (begun: StreamEnd) => {
    end = begun;
  };
  try {
    signal.throwIfAborted();
    const { isWhole } = options;
    const watched = createEndpointFetch({ config, fetch, isWhole, onBytes: () => stall.restart(), onAnswer });
    const stream = await unlessAborted(openStream(options, watched, requestSignal), requestSignal);
    for await (const event of readStream(stream, requestSignal, events)) {
      keepAlive.restart();
      yield event;
      if (event.kind === 'finish') return;
    }
    throw connectionLost(context);
  } catch (error) {
    const isAborted = requestSignal.aborted;
    const failure = isAborted
      ? abortFailure(signal, stall.signal.aborted, context)
      : explain(error, end, context);
    const { problem } = failure;
    const { outcome } = endingOf({
      // The bytes are ahead of the events.
      hasEnded: problem === 'cut' || problem === 'silent' ? end?.hasEnded === true : events.hasEnded,
      hasOutput: events.hasOutput,
      problem,
    });
    if (outcome !== 'ended' || signal.aborted) throw new ModelError(failure, outcome);
    yield* events.end();
    yield { kind: 'finish', reason: 'stop', usage: {} };
  } finally {
    stall.stop();
    keepAlive.stop();
    closed.abort();
  }
}

async function openStream(
  { createModel, call, isWhole }: StreamOptions,
  fetch: typeof globalThis.fetch,
  abortSignal: AbortSignal,
): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  try {
    const model = createModel(fetch);
    if (isWhole) return streamParts(await model.doGenerate({ ...call, abortSignal }));
    const { stream } = await model.doStream({ ...call, abortSignal, includeRawChunks: true });
    return stream;
  } catch (error) {
    if (!(error instanceof WholeReply)) throw error;
    const headers = { 'content-type': 'application/json' };
    const model = createModel(async () => new Response(error.json, { headers }));
    return streamParts(await model.doGenerate(call));
  }
}

/** Node 20.3 has no `ReadableStream.from`. */
function streamParts(reply: LanguageModelV4GenerateResult): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of toParts(reply)) controller.enqueue(part);
      controller.close();
    },
  });
}

/** The parts that a stream with the same content would have. */
function* toParts(reply: LanguageModelV4GenerateResult): Generator<LanguageModelV4StreamPart> {
  for (const [index, part] of reply.content.entries()) {
    const id = `${index}`;
    if (part.type === 'text' || part.type === 'reasoning') {
      const { type, text: delta, ...more } = part;
      yield { type: `${type}-start`, id, ...more };
      yield { type: `${type}-delta`, id, delta };
      yield { type: `${type}-end`, id };
    } else {
      yield part;
    }
  }
  const { finishReason, usage } = reply;
  yield { type: 'raw', rawValue: reply.response?.body };
  yield { type: 'finish', finishReason, usage };
}

/** What the provider reports is more exact than how the SDK fails because of it. */
function explain(error: unknown, end: StreamEnd | undefined, context: RequestContext): ModelError {
  if (end?.error) return reportedFailure(end.error, context);
  if (end?.isForeign) return wrongFormat(context, { reason: end.foreignReason, cause: error });
  const failure = toFailure(error, context);
  const reason = end?.strayReason ?? '';
  if (reason === '') return failure;
  if (failure.problem === 'unreadable') return wrongFormat(context, { problem: 'unreadable', reason });
  return failure.problem === 'cut' ? reportedFailure({ message: reason }, context) : failure;
}

function abortFailure(signal: AbortSignal, isStalled: boolean, { host }: RequestContext): ModelError {
  if (signal.aborted) return stopped();
  const message = isStalled
    ? `${host} has sent nothing for ${STALL_MS / 60_000} minutes.`
    : `${host} has sent only keep-alives for ${KEEP_ALIVE_MS / 60_000} minutes.`;
  return new ModelError({ message, failure: { kind: 'lost', reason: message }, problem: 'silent' });
}

async function* readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal,
  events: EventReader,
): AsyncGenerator<ModelEvent, void, undefined> {
  const reader = stream.getReader();
  for (;;) {
    // A stream may ignore the signal.
    const { done, value } = await unlessAborted(reader.read(), signal);
    if (done) return;
    yield* events.read(value);
  }
}
