import { BUDGET } from '../../base/budget.ts';
import { BodyTooLargeError } from '../../base/httpBody.ts';
import { countValues, isObject, parseJson, textOf } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import { errorIn, readErrorBody } from './errorBody.ts';
import {
  chatRepair,
  firstOf,
  type Repair,
  repairAnthropic,
  responsesRepair,
  type WireEvent,
} from './repairs.ts';

/**
 * How every response of a model is read: what its body is, what ends it, what reports an error, and whether another
 * attempt is worth it. `test/wires/` has responses for each row of `ENDINGS`.
 */

type BodyKind = 'json' | 'page' | 'events';

export interface Signs {
  /** The event belongs to this protocol. */
  isKnown(event: WireEvent): boolean;
  /** Ends the reply, unless it is empty. So does `[DONE]`, for every provider. */
  stopReason(event: WireEvent): unknown;
  /** The SDK emits the stop reason only after this event. */
  readonly closing?: { readonly type: string };
  /** A whole reply, although a stream was requested. Gemini has the same shape for both. */
  isWhole?(event: WireEvent): boolean;
  /** Makes the events of a stream as the SDK reads them. */
  createRepair?(): Repair;
}

const GOOGLE_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'modelVersion'];

export const SIGNS: Readonly<Record<'anthropic' | 'responses' | 'chat' | 'google', Signs>> = {
  anthropic: {
    isKnown: ({ type }) => /^(message|content_block)_|^ping$/.test(textOf(type)),
    stopReason: ({ delta }) => (isObject(delta) ? delta['stop_reason'] : undefined),
    closing: { type: 'message_stop' },
    isWhole: ({ type, content }) => type === 'message' && Array.isArray(content),
    createRepair: () => (event) => (event ? repairAnthropic(event) : []),
  },
  responses: {
    isKnown: ({ type }) => textOf(type).startsWith('response.'),
    stopReason: ({ type }) =>
      type === 'response.completed' || type === 'response.incomplete' ? type : undefined,
    isWhole: ({ output }) => Array.isArray(output),
    createRepair: responsesRepair,
  },
  chat: {
    isKnown: ({ choices }) => Array.isArray(choices),
    stopReason: ({ choices }) => firstOf(choices)['finish_reason'],
    // Some gateways repeat the message beside the last delta.
    isWhole: ({ choices }) => isObject(firstOf(choices)['message']) && !isObject(firstOf(choices)['delta']),
    createRepair: chatRepair,
  },
  google: {
    isKnown: (event) => GOOGLE_FIELDS.some((field) => field in event),
    stopReason: ({ candidates }) => firstOf(candidates)['finishReason'],
  },
};

/** An error as the stop reason does not end the reply normally. */
export function stopReasonOf(event: WireEvent, { stopReason }: Signs): string | undefined {
  const reason = textOf(stopReason(event));
  return reason === '' || ERROR_REASON.test(reason) ? undefined : reason;
}

/** Of OpenRouter and other gateways, DeepSeek, and Zhipu. */
export const ERROR_REASON = /^(?:error|network_error|insufficient_system_resource)$/;

export type StreamProblem =
  /** The connection or the stream ended before the reply, or there was none. */
  | 'cut'
  /** Nothing arrived for too long, or only keep-alives. */
  | 'silent'
  /** The stop reason is an error. */
  | 'brokenOff'
  /** The provider reported a transient error. */
  | 'reported'
  /** The provider reported a permanent error. */
  | 'refused'
  /** An event is not JSON. */
  | 'unreadable'
  /** The response is not in the configured provider's format. */
  | 'wrongFormat';

export interface StreamFacts {
  /** A stop reason or `[DONE]` has arrived. */
  readonly hasEnded: boolean;
  /** Text, reasoning or a call has arrived. */
  readonly hasOutput: boolean;
  readonly problem: StreamProblem;
}

/**
 * - `ended`: the reply is complete.
 * - `failed`: a retry would fail too.
 * - `again`: it may succeed. There are at most three attempts.
 */
export type StreamOutcome = 'ended' | 'failed' | 'again';

export interface Ending extends Partial<StreamFacts> {
  readonly name: string;
  readonly outcome: StreamOutcome;
}

/** A response without a problem is complete. For the others, the first row whose facts are all true decides. */
export const ENDINGS: readonly Ending[] = [
  { name: 'an error as the stop reason', problem: 'brokenOff', outcome: 'again' },
  { name: 'any problem after the end', hasEnded: true, outcome: 'ended' },
  { name: 'a permanent error', problem: 'refused', outcome: 'failed' },
  { name: 'another format', problem: 'wrongFormat', outcome: 'failed' },
  { name: 'a first event that is not JSON', problem: 'unreadable', hasOutput: false, outcome: 'failed' },
  { name: 'a later event that is not JSON', problem: 'unreadable', outcome: 'again' },
  { name: 'a transient error', problem: 'reported', outcome: 'again' },
  { name: 'a response without an end', problem: 'cut', outcome: 'again' },
  { name: 'silence', problem: 'silent', outcome: 'again' },
];

export function endingOf(facts: StreamFacts): Ending {
  const found = ENDINGS.find(
    ({ hasEnded, hasOutput, problem }) =>
      (hasEnded ?? facts.hasEnded) === facts.hasEnded &&
      (hasOutput ?? facts.hasOutput) === facts.hasOutput &&
      (problem ?? facts.problem) === facts.problem,
  );
  if (!found) throw new Error(`No row for ${JSON.stringify(facts)}.`);
  return found;
}

/** How much of a body in an unknown format is kept for its reason. */
const MAX_FOREIGN_CHARS = 20_000;

/** Each takes as long as an error. */
const MAX_UNREADABLE = 1000;
const UNREADABLE = `More than ${MAX_UNREADABLE} lines of the response are not events.`;
const TOO_LARGE = `An event of the response has more than ${describeSize(BUDGET.eventChars)}, or ${BUDGET.textValues} values.`;

/** Observes a response before the SDK does, to detect its end, its errors and its format. */
export class StreamEnd {
  readonly #signs: Signs;
  readonly #decoder = new TextDecoder();
  #line = '';
  #lineValues = 0;
  /** The beginning of the body, until an event is known. */
  #text = '';
  #isKnown = false;
  #hasStopReason = false;
  #isClosed = false;
  #isDone = false;
  #isErrorEvent = false;
  #isLastEvent = false;
  #hasBegun = false;
  readonly #repair: Repair | undefined;
  /** Lines among the events that belong to none, such as the page of a proxy. */
  #strayLines = '';
  #unreadable = 0;
  /** What came before the first event, which is kept until then. */
  #waitingBytes = 0;
  /** The first event of a stream. */
  first: WireEvent | undefined;
  /** Known from the first character on that is not white space. */
  kind: BodyKind | undefined;
  /** The first error that was reported before the end. */
  error: WireEvent | undefined;

  constructor(signs: Signs) {
    this.#signs = signs;
    this.#repair = signs.createRepair?.();
  }

  /** What follows an error does not end the reply. */
  get hasEnded(): boolean {
    return this.error === undefined && (this.#hasStopReason || (this.#isDone && !this.isForeign));
  }

  /** The first event has arrived, whatever it is. */
  get hasBegun(): boolean {
    return this.#hasBegun || this.error !== undefined;
  }

  /** The rest of the body does not matter. */
  get isDone(): boolean {
    return this.#isDone || (this.kind === 'page' && this.#text.length >= MAX_FOREIGN_CHARS);
  }

  /** What has arrived is not in the provider's format, and is not the beginning of it. */
  get isForeign(): boolean {
    if (this.#isKnown || this.kind === undefined) return false;
    const lines = this.#text.trim().split(/[\r\n]+/);
    if (this.kind === 'events') return lines.some((line) => isForeignLine(line, this.#signs));
    const first = parseJson(this.#text) ?? parseJson(lines[0] ?? '');
    const isLine = isObject(first) && this.#signs.isKnown(first);
    return this.kind === 'page' || (first !== undefined && !isLine);
  }

  /** What a body in an unknown format says. Events of another provider say nothing to the user. */
  get foreignReason(): string {
    const isNoise = /^(data|event):|^[ \t]*[{[]/m.test(this.#text) && !isJson(this.#text);
    return isNoise ? '' : readErrorBody(this.#text).reason;
  }

  /** What lines among the events say, if the stream ends after them. */
  get strayReason(): string {
    return readErrorBody(this.#strayLines).reason;
  }

  /** Returns what the SDK gets: whole lines, with events as it expects them, and nothing that follows `[DONE]`. */
  push(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#isKnown) this.#text = (this.#text + text).slice(0, MAX_FOREIGN_CHARS);
    this.kind ??= kindOf(this.#text.trimStart());
    let passed = '';
    let start = 0;
    for (const { 0: end, index } of text.matchAll(/[\r\n]+/g)) {
      this.#addToLine(text.slice(start, index));
      passed += this.#readLine(this.#line) + end;
      this.#line = '';
      this.#lineValues = 0;
      start = index + end.length;
      if (this.#isDone) return passed;
    }
    this.#addToLine(text.slice(start));
    this.#waitingBytes = this.#hasBegun ? 0 : this.#waitingBytes + bytes.length;
    if (this.#waitingBytes > BUDGET.eventChars) throw new BodyTooLargeError(TOO_LARGE);
    return passed;
  }

  /** Throws before the SDK gets the whole event, which it parses at once. */
  #addToLine(text: string): void {
    this.#line += text;
    this.#lineValues += countValues(text);
    if (this.#line.length > BUDGET.eventChars || this.#lineValues > BUDGET.textValues)
      throw new BodyTooLargeError(TOO_LARGE);
  }

  /** Call at the end of the stream. Returns what the SDK needs to emit the last event and the stop reason. */
  end(): string {
    const last = this.#readLine(this.#line);
    this.#line = '';
    if (!this.#hasStopReason) return last;
    const { closing } = this.#signs;
    const isOpen = closing !== undefined && !this.#isClosed;
    this.#isClosed = true;
    return isOpen ? `${last}\n\ndata: ${JSON.stringify(closing)}\n\n` : `${last}\n\n`;
  }

  /** Some servers write an error into a stream as a line without `data:`, with `error:`, or as plain text. */
  #readLine(line: string): string {
    if (this.#isKnown && isStray(line)) this.#addStray(line);
    const [, field = '', rest = ''] = /^(?:(event|data|error):|(?=\{))(.*)$/s.exec(line) ?? [];
    const value = rest.trim();
    // The SDK reads each of a flood of such lines by itself.
    if (field === '' && value === '' && this.kind === 'events' && /^\S/.test(line) && isStray(line))
      this.#countUnreadable();
    if (field === 'event') {
      this.#isErrorEvent = value === 'error';
      this.#isLastEvent = /^(?:done|end|close)$/.test(value);
    }
    if (field === 'event' || value === '') return line;
    this.#hasBegun ||= field === 'data';
    this.#isDone ||= field === 'data' && (value === DONE || this.#isLastEvent);
    if (this.#isDone) return [...(this.#repair?.() ?? []).map(renderEvent), `data: ${DONE}`].join('\n\n');
    const event = parseJson(value);
    if (event === undefined) this.#countUnreadable();
    if (event === undefined && /^[^[{]/.test(value)) this.#addStray(value);
    if (isObject(event)) this.#readError(event);
    const isCut = event === undefined && /^[{[]/.test(value);
    if ((field === 'error' || this.#isErrorEvent) && !isCut) this.#readError({ error: event ?? value });
    return isObject(event) && field === 'data' ? this.#readEvent(event, line) : line;
  }

  #addStray(line: string): void {
    this.#strayLines = `${this.#strayLines}${line}\n`.slice(0, MAX_FOREIGN_CHARS);
  }

  #countUnreadable(): void {
    this.#unreadable += 1;
    if (this.#unreadable > MAX_UNREADABLE) throw new BodyTooLargeError(UNREADABLE);
  }

  #readError(event: WireEvent): void {
    const error = errorIn(event);
    if (!error) return;
    if (!this.hasEnded) this.error ??= error;
    this.#isKnown = true;
  }

  #readEvent(event: WireEvent, line: string): string {
    const { isKnown, closing } = this.#signs;
    this.first ??= event;
    this.#isKnown ||= isKnown(event);
    this.#hasStopReason ||= stopReasonOf(event, this.#signs) !== undefined;
    this.#isClosed ||= closing !== undefined && event['type'] === closing.type;
    const events = this.#repair?.(event) ?? [event];
    if (events.length === 1 && events[0] === event) return line;
    return events.map(renderEvent).join('\n\n');
  }
}

function renderEvent(event: WireEvent): string {
  return `data: ${JSON.stringify(event)}`;
}

/** Decided by the first character, because gateways declare wrong types. */
function kindOf(body: string): BodyKind | undefined {
  if (body === '') return undefined;
  if (body.startsWith('<')) return 'page';
  return /^[{[]/.test(body) ? 'json' : 'events';
}

const DONE = '[DONE]';
const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':'];

function isStray(line: string): boolean {
  return !FIELDS.some((field) => line.startsWith(field) || field.startsWith(line));
}

/** A field that is cut off is not foreign, nor is an event that is not JSON: the SDK reports it. */
function isForeignLine(line: string, { isKnown }: Signs): boolean {
  if (!line.startsWith('data:')) return isStray(line);
  const event = parseJson(line.slice('data:'.length));
  return event !== undefined && !(isObject(event) && (isKnown(event) || errorIn(event)));
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}
