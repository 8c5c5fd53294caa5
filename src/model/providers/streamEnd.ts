import { isObject } from '../../base/json.ts';
import type { SdkProvider } from './wire.ts';

/** What is known about one request when its stream is over. */
export interface StreamFacts {
  /** The provider has said that the reply is over: with a stop reason, or with `[DONE]`. */
  readonly saidEnd: boolean;
  /** The provider has accepted the request and begun to answer. */
  readonly answered: boolean;
  /** Text, reasoning or a call has come. */
  readonly hasOutput: boolean;
  readonly trouble: StreamTrouble;
}

export type StreamTrouble =
  /** The stream ended, or nothing more came. */
  | 'cut'
  /** The provider gave an error as its stop reason. */
  | 'brokenOff'
  /** The provider reported an error that may pass. */
  | 'reported'
  /** The provider reported an error that another request would meet again. */
  | 'refused'
  /** An event is not JSON. */
  | 'unreadable'
  /** This is not a stream of the provider that the model is configured for. */
  | 'wrongFormat';

/**
 * - `ended`: the reply is whole.
 * - `failed`: another attempt would end in the same way.
 * - `again`: the reply broke off after it had begun. Another attempt may succeed, but each one is paid for.
 * - `later`: the provider took no request, so waiting costs nothing.
 */
export type StreamVerdict = 'ended' | 'failed' | 'again' | 'later';

export function judgeStream({ saidEnd, answered, hasOutput, trouble }: StreamFacts): StreamVerdict {
  if (trouble === 'brokenOff') return 'again';
  if (saidEnd) return 'ended';
  switch (trouble) {
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

/** Reads the events of a stream on their way in, only for what they say about its end and its format. */
export class StreamEnd {
  readonly #signs: Signs;
  readonly #decoder = new TextDecoder();
  #line = '';
  #hasLines = false;
  #isOwn = false;
  #reason: string | undefined;
  #isClosed = false;
  /** `[DONE]` has come: nothing follows it. */
  isDone = false;

  constructor(provider: SdkProvider) {
    this.#signs = SIGNS[provider];
  }

  get said(): boolean {
    return this.isDone || this.#reason !== undefined;
  }

  /** Something has come, and none of it is of the provider's format. */
  get isForeign(): boolean {
    return this.#hasLines && !this.#isOwn;
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

  /** The stream is over. Returns what the package still waits for, if the provider has left that out. */
  end(): string {
    this.#readLine(this.#line);
    this.#line = '';
    const { closing } = this.#signs;
    if (closing === undefined || this.#reason === undefined || this.#isClosed) return '';
    return `\n\ndata: ${JSON.stringify(closing)}\n\n`;
  }

  #readLine(line: string): void {
    const data = /^\uFEFF?data:(.*)$/.exec(line)?.[1]?.trim();
    // Comments only keep the connection alive.
    if (line.trim() !== '' && !line.startsWith(':')) this.#hasLines = true;
    if (data === undefined) return;
    if (data === '[DONE]') {
      this.isDone = true;
      this.#isOwn = true;
    } else if (!this.#isOwn || this.#signs.hint.test(data)) {
      this.#readEvent(data);
    }
  }

  #readEvent(data: string): void {
    const event = parse(data);
    if (!isObject(event)) return;
    const { isOwn, stopReason, closing } = this.#signs;
    this.#isOwn ||= isOwn(event) || 'error' in event || event['type'] === 'error';
    this.#reason ??= textOf(stopReason(event));
    this.#isClosed ||= closing !== undefined && event['type'] === closing.type;
  }
}

interface Signs {
  isOwn(event: WireEvent): boolean;
  /** Only events that match say something about the end, so the others are not parsed twice. */
  readonly hint: RegExp;
  stopReason(event: WireEvent): unknown;
  /** The package knows the stop reason only behind this event. */
  readonly closing?: { readonly type: string };
}

type WireEvent = Readonly<Record<string, unknown>>;

const CHAT: Signs = {
  isOwn: ({ choices }) => Array.isArray(choices),
  hint: /"finish_reason"\s*:\s*"/,
  stopReason: ({ choices }) => firstOf(choices)['finish_reason'],
};

const SIGNS: Readonly<Record<SdkProvider, Signs>> = {
  anthropic: {
    isOwn: ({ type }) => /^(message|content_block)_|^ping$/.test(textOf(type) ?? ''),
    hint: /"message_(delta|stop)"/,
    stopReason: ({ delta }) => (isObject(delta) ? delta['stop_reason'] : undefined),
    closing: { type: 'message_stop' },
  },
  openai: {
    isOwn: ({ type }) => textOf(type)?.startsWith('response.') === true,
    hint: /"response\.(completed|incomplete)"/,
    stopReason: ({ type }) =>
      type === 'response.completed' || type === 'response.incomplete' ? type : undefined,
  },
  'openai-chat': CHAT,
  'openai-compatible': CHAT,
  google: {
    isOwn: (event) => GOOGLE_FIELDS.some((field) => field in event),
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
