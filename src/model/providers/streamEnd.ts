import { isObject, parseJson } from '../../base/json.ts';
import type { SdkProvider } from './wire.ts';

export interface StreamFacts {
  /** A stop reason or `[DONE]` has arrived. */
  readonly hasEnded: boolean;
  /** The provider has accepted the request. */
  readonly answered: boolean;
  /** Text, reasoning or a call has arrived. */
  readonly hasOutput: boolean;
  readonly problem: StreamProblem;
}

export type StreamProblem =
  /** The stream ended or stalled. */
  | 'cut'
  /** The stop reason is an error. */
  | 'brokenOff'
  /** The provider reported a transient error. */
  | 'reported'
  /** The provider reported a permanent error. */
  | 'refused'
  /** An event is not JSON. */
  | 'unreadable'
  /** The stream is not in the configured provider's format. */
  | 'wrongFormat';

/**
 * - `ended`: the reply is complete.
 * - `failed`: a retry would fail too.
 * - `again`: the reply broke off after it had begun. A retry may succeed, but the user pays for each one.
 * - `later`: the provider did not process the request, so a retry costs nothing.
 */
export type StreamOutcome = 'ended' | 'failed' | 'again' | 'later';

export function classifyStreamEnd({ hasEnded, answered, hasOutput, problem }: StreamFacts): StreamOutcome {
  if (problem === 'brokenOff') return 'again';
  if (hasEnded) return 'ended';
  switch (problem) {
    case 'refused':
    case 'wrongFormat':
      return 'failed';
    case 'unreadable':
      return hasOutput ? 'again' : 'failed';
    case 'reported':
      return hasOutput ? 'again' : 'later';
    case 'cut':
      return answered ? 'again' : 'later';
  }
}

/** Observes a stream before the SDK does, to detect its end and its format. */
export class StreamEnd {
  readonly #signs: Signs;
  readonly #decoder = new TextDecoder();
  #line = '';
  #hasLines = false;
  #isKnown = false;
  #reason: string | undefined;
  #isClosed = false;
  /** `[DONE]` has arrived; nothing follows it. */
  isDone = false;

  constructor(provider: SdkProvider) {
    this.#signs = SIGNS[provider];
  }

  get hasEnded(): boolean {
    return this.isDone || this.#reason !== undefined;
  }

  /** Lines have arrived, none of them in the provider's format. */
  get isForeign(): boolean {
    return this.#hasLines && !this.#isKnown;
  }

  push(bytes: Uint8Array): void {
    const lines = this.#decoder.decode(bytes, { stream: true }).split(/[\r\n]+/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#readLine(this.#line + line);
      this.#line = '';
    }
    this.#line += rest;
  }

  /** Call at the end of the stream. Returns the closing event if the SDK needs one and the provider sent none. */
  end(): string {
    this.#readLine(this.#line);
    this.#line = '';
    const { closing } = this.#signs;
    if (closing === undefined || this.#reason === undefined || this.#isClosed) return '';
    return `\n\ndata: ${JSON.stringify(closing)}\n\n`;
  }

  #readLine(line: string): void {
    const data = /^\uFEFF?data:(.*)$/.exec(line)?.[1]?.trim();
    // Comments are keep-alives.
    if (line.trim() !== '' && !line.startsWith(':')) this.#hasLines = true;
    if (data === undefined) return;
    if (data === '[DONE]') {
      this.isDone = true;
      this.#isKnown = true;
    } else if (!this.#isKnown || this.#signs.hint.test(data)) {
      this.#readEvent(data);
    }
  }

  #readEvent(data: string): void {
    const event = parseJson(data);
    if (!isObject(event)) return;
    const { isKnown, stopReason, closing } = this.#signs;
    this.#isKnown ||= isKnown(event) || 'error' in event || event['type'] === 'error';
    this.#reason ??= textOf(stopReason(event));
    this.#isClosed ||= closing !== undefined && event['type'] === closing.type;
  }
}

interface Signs {
  isKnown(event: WireEvent): boolean;
  /** Matches events that may have a stop reason; the others are not parsed here. */
  readonly hint: RegExp;
  stopReason(event: WireEvent): unknown;
  /** The SDK emits the stop reason only after this event. */
  readonly closing?: { readonly type: string };
}

type WireEvent = Readonly<Record<string, unknown>>;

const CHAT: Signs = {
  isKnown: ({ choices }) => Array.isArray(choices),
  hint: /"finish_reason"\s*:\s*"/,
  stopReason: ({ choices }) => firstOf(choices)['finish_reason'],
};

const SIGNS: Readonly<Record<SdkProvider, Signs>> = {
  anthropic: {
    isKnown: ({ type }) => /^(message|content_block)_|^ping$/.test(textOf(type) ?? ''),
    hint: /"message_(delta|stop)"/,
    stopReason: ({ delta }) => (isObject(delta) ? delta['stop_reason'] : undefined),
    closing: { type: 'message_stop' },
  },
  openai: {
    isKnown: ({ type }) => textOf(type)?.startsWith('response.') === true,
    hint: /"response\.(completed|incomplete)"/,
    stopReason: ({ type }) =>
      type === 'response.completed' || type === 'response.incomplete' ? type : undefined,
  },
  'openai-chat': CHAT,
  'openai-compatible': CHAT,
  google: {
    isKnown: (event) => GOOGLE_FIELDS.some((field) => field in event),
    hint: /"finishReason"/,
    stopReason: ({ candidates }) => firstOf(candidates)['finishReason'],
  },
};

const GOOGLE_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'modelVersion'];

function firstOf(list: unknown): WireEvent {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isObject(first) ? first : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
