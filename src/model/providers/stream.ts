import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { unlessAborted } from '../../base/async.ts';
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
}

/** Sends one request. Closes the connection however the stream ends. */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<ModelEvent, void, undefined> {
  const { wire, context, signal } = options;
  const { host } = context;
  const request = new RequestAbort(signal, host);
  let end: StreamEnd | undefined;
  const events = new EventReader(wire, context, () => end?.hasEnded === true);
  const onAnswer = (begun: StreamEnd) => {
    end = begun;
  };
  try {
    if (request.failure !== undefined) throw request.failure;
    const model = options.createModel({ onBytes: () => request.restartTimer(), onAnswer });
    const call = { ...options.call, abortSignal: request.signal };
    const { stream } = await unlessAborted(Promise.resolve(model.doStream(call)), request.signal);
    const isFinished = yield* readStream(stream, request.signal, events);
    if (!isFinished) throw connectionLost(host);
  } catch (error) {
    const found = request.failure ?? toFailure(error, context);
    const failure = found.problem === 'cut' && end?.isForeign === true ? wrongFormat(host) : found;
    const outcome = classifyStreamEnd({
      hasEnded: end?.hasEnded === true,
      // A provider that stalls may still be processing the request.
      answered: end !== undefined || request.failure !== undefined,
      hasOutput: events.hasOutput,
      problem: failure.problem,
    });
    if (outcome !== 'ended' || signal.aborted) throw new ModelError(failure, outcome);
    yield { kind: 'finish', reason: 'stop', usage: {} };
  } finally {
    request.close();
  }
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

/** Aborts a request when the user stops it or the provider stalls. */
class RequestAbort {
  failure: ModelError | undefined;
  readonly #controller = new AbortController();
  readonly #userSignal: AbortSignal;
  readonly #host: string;
  #timer: NodeJS.Timeout;
  readonly #onStop = () => this.#abort(stopped());

  constructor(signal: AbortSignal, host: string) {
    this.#userSignal = signal;
    this.#host = host;
    this.#timer = this.#startTimer();
    signal.addEventListener('abort', this.#onStop);
    if (signal.aborted) this.#onStop();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restartTimer(): void {
    clearTimeout(this.#timer);
    if (!this.signal.aborted) this.#timer = this.#startTimer();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#userSignal.removeEventListener('abort', this.#onStop);
    this.#controller.abort();
  }

  #startTimer(): NodeJS.Timeout {
    const message = `${this.#host} has sent nothing for ${STALL_MS / 60_000} minutes.`;
    return setTimeout(() => this.#abort(new ModelError({ message, problem: 'cut' })), STALL_MS);
  }

  #abort(failure: ModelError): void {
    this.failure ??= failure;
    this.#controller.abort(failure);
  }
}
