import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { ModelEvent } from '../../ports.ts';
import { EventReader } from './events.ts';
import { type AboutRequest, connectionLost, ModelError, stopped, toFailure } from './failure.ts';
import type { Wire } from './wire.ts';

/** How long a provider may be silent. The slowest models send at least a sign of life more often. */
export const STALL_MS = 5 * 60_000;

export interface StreamOptions {
  readonly wire: Wire;
  readonly about: AboutRequest;
  readonly signal: AbortSignal;
  /** Makes the model with a function to call whenever bytes arrive. */
  readonly createModel: (onBytes: () => void) => LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
}

/** Sends one request. Whatever ends it, the connection is closed when this has ended. */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<ModelEvent, void, undefined> {
  const { about, signal } = options;
  const request = new RequestEnd(signal, about.host);
  try {
    if (request.failure !== undefined) throw request.failure;
    const model = options.createModel(() => request.heard());
    const call = { ...options.call, abortSignal: request.signal };
    const { stream } = await request.orEnd(Promise.resolve(model.doStream(call)));
    yield* readStream(stream, request, options);
  } catch (error) {
    throw request.failure ?? toFailure(error, about);
  } finally {
    request.close();
  }
}

async function* readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  request: RequestEnd,
  { wire, about }: StreamOptions,
): AsyncGenerator<ModelEvent, void, undefined> {
  const events = new EventReader(wire, about);
  const reader = stream.getReader();
  let finished = false;
  for (;;) {
    const { done, value } = await request.orEnd(reader.read());
    if (done) break;
    for (const event of events.read(value)) {
      finished ||= event.kind === 'finish';
      yield event;
    }
    if (finished) return;
  }
  throw connectionLost(about.host);
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
    this.#end(new ModelError({ message, retryable: true }));
  }

  #end(failure: ModelError): void {
    this.failure ??= failure;
    this.#controller.abort();
    this.#reject(failure);
  }
}
