import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { ModelEvent } from '../../ports/models.ts';

import type { EndpointOptions } from './endpoint.ts';
import { EventReader } from './events.ts';
import { type AboutRequest, connectionLost, ModelError, stopped, toFailure, wrongFormat } from './failure.ts';
import { judgeStream, type StreamEnd } from './streamEnd.ts';
import type { Wire } from './wire.ts';

/** How long a provider may be silent. The slowest models send at least a sign of life more often. */
export const STALL_MS = 5 * 60_000;

/** What the endpoint tells while a request is on its way. */
export type StreamWatch = Required<Pick<EndpointOptions, 'onBytes' | 'onAnswer'>>;

export interface StreamOptions {
  readonly wire: Wire;
  readonly about: AboutRequest;
  readonly signal: AbortSignal;
  readonly createModel: (watch: StreamWatch) => LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
}

/** Sends one request. Whatever ends it, the connection is closed when this has ended. */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<ModelEvent, void, undefined> {
  const { wire, about, signal } = options;
  const request = new RequestEnd(signal, about.host);
  let end: StreamEnd | undefined;
  const events = new EventReader(wire, about, () => end?.said === true);
  const onAnswer = (begun: StreamEnd) => {
    end = begun;
  };
  try {
    if (request.failure !== undefined) throw request.failure;
    const model = options.createModel({ onBytes: () => request.heard(), onAnswer });
    const call = { ...options.call, abortSignal: request.signal };
    const { stream } = await request.orEnd(Promise.resolve(model.doStream(call)));
    const isFinished = yield* readStream(stream, request, events);
    if (isFinished) return;
    throw connectionLost(about.host);
  } catch (error) {
    const found = request.failure ?? toFailure(error, about);
    const failure = found.trouble === 'cut' && end?.isForeign === true ? wrongFormat(about.host) : found;
    const verdict = judgeStream({
      saidEnd: end?.said === true,
      // A provider that is silent may well be at work.
      answered: end !== undefined || request.failure !== undefined,
      hasOutput: events.hasOutput,
      trouble: failure.trouble,
    });
    if (verdict !== 'ended' || signal.aborted) throw new ModelError(failure, verdict);
    yield { kind: 'finish', reason: 'stop', usage: {} };
  } finally {
    request.close();
  }
}

/** Resolves to whether the stream has come to a finish. */
async function* readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  request: RequestEnd,
  events: EventReader,
): AsyncGenerator<ModelEvent, boolean, undefined> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await request.orEnd(reader.read());
    if (done) return false;
    for (const event of events.read(value)) {
      yield event;
      if (event.kind === 'finish') return true;
    }
  }
}

/** Everything that may end a request before its time: the user's stop, and silence. */
class RequestEnd {
  /** Why it has ended, as soon as it has. */
  failure: ModelError | undefined;
  #controller = new AbortController();
  #userSignal: AbortSignal;
  #host: string;
  #timer: NodeJS.Timeout;
  #ended: Promise<never>;
  #reject: (reason: ModelError) => void = () => {};
  #onStop = () => this.#end(stopped());

  constructor(signal: AbortSignal, host: string) {
    this.#userSignal = signal;
    this.#host = host;
    this.#ended = new Promise((_, reject) => {
      this.#reject = reject;
    });
    // It may well reject when nobody is waiting.
    this.#ended.catch(() => {});
    this.#timer = this.#startTimer();
    signal.addEventListener('abort', this.#onStop);
    if (signal.aborted) this.#onStop();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    clearTimeout(this.#timer);
    if (!this.signal.aborted) this.#timer = this.#startTimer();
  }

  /** A stream that does not mind its signal would keep us waiting. */
  orEnd<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#ended]);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#userSignal.removeEventListener('abort', this.#onStop);
    this.#controller.abort();
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => this.#stall(), STALL_MS);
  }

  #stall(): void {
    const message = `${this.#host} has sent nothing for ${STALL_MS / 60_000} minutes.`;
    this.#end(new ModelError({ message, trouble: 'cut' }));
  }

  #end(failure: ModelError): void {
    this.failure ??= failure;
    this.#controller.abort();
    this.#reject(failure);
  }
}
