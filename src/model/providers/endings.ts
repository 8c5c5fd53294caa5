import { isObject } from '../../base/json.ts';

/**
 * How every response of a model is read: what its body is, what ends it, what reports an error, and whether another
 * attempt is worth it. `test/wires/` has responses for each row of `ENDINGS`.
 */

/** Decided by the first character, because gateways declare wrong types. The first row that matches decides. */
export const BODIES = [
  { kind: 'json', first: /^[{[]/ },
  { kind: 'page', first: /^</ },
  { kind: 'events', first: /^./s },
] as const;

export type BodyKind = (typeof BODIES)[number]['kind'];

/** One event of a stream, or a whole response in JSON. */
export type WireEvent = Readonly<Record<string, unknown>>;

export interface Signs {
  /** The event belongs to this protocol. */
  isKnown(event: WireEvent): boolean;
  /** Ends the reply, unless it is empty. So does `[DONE]`, for every provider. */
  stopReason(event: WireEvent): unknown;
  /** The SDK emits the stop reason only after this event. */
  readonly closing?: { readonly type: string };
  /** A whole reply, although a stream was requested. Gemini has the same shape for both. */
  isWhole?(event: WireEvent): boolean;
}

const GOOGLE_FIELDS = ['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'modelVersion'];

export const SIGNS: Readonly<Record<'anthropic' | 'responses' | 'chat' | 'google', Signs>> = {
  anthropic: {
    isKnown: ({ type }) => /^(message|content_block)_|^ping$/.test(textOf(type)),
    stopReason: ({ delta }) => (isObject(delta) ? delta['stop_reason'] : undefined),
    closing: { type: 'message_stop' },
    isWhole: ({ type, content }) => type === 'message' && Array.isArray(content),
  },
  responses: {
    isKnown: ({ type }) => textOf(type).startsWith('response.'),
    stopReason: ({ type }) =>
      type === 'response.completed' || type === 'response.incomplete' ? type : undefined,
    isWhole: ({ output }) => Array.isArray(output),
  },
  chat: {
    isKnown: ({ choices }) => Array.isArray(choices),
    stopReason: ({ choices }) => firstOf(choices)['finish_reason'],
    isWhole: ({ choices }) => isObject(firstOf(choices)['message']),
  },
  google: {
    isKnown: (event) => GOOGLE_FIELDS.some((field) => field in event),
    stopReason: ({ candidates }) => firstOf(candidates)['finishReason'],
  },
};

/** The error that an event reports, in any provider's shape. */
export function errorIn(event: WireEvent): WireEvent | undefined {
  const { type, object, error, response } = event;
  if (type === 'response.failed') return isObject(response) ? response : event;
  const isError = isObject(error) || (typeof error === 'string' && error !== '');
  return isError || type === 'error' || object === 'error' ? event : undefined;
}

/** An error as the stop reason does not end the reply normally. */
export function stopReasonOf(event: WireEvent, { stopReason }: Signs): string | undefined {
  const reason = textOf(stopReason(event));
  return reason === '' || reason === ERROR_REASON ? undefined : reason;
}

/** OpenRouter and other gateways. */
export const ERROR_REASON = 'error';

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
  /** The provider has responded with status 200. */
  readonly answered: boolean;
  /** Text, reasoning or a call has arrived. */
  readonly hasOutput: boolean;
  readonly problem: StreamProblem;
}

/**
 * - `ended`: the reply is complete.
 * - `failed`: a retry would fail too.
 * - `again`: the provider has begun to process the request, so the user may pay for each of at most three attempts.
 * - `later`: it has not, so a retry costs nothing.
 */
export type StreamOutcome = 'ended' | 'failed' | 'again' | 'later';

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
  { name: 'a transient error in the response', problem: 'reported', answered: true, outcome: 'again' },
  { name: 'a transient error in place of a response', problem: 'reported', outcome: 'later' },
  { name: 'a response without an end', problem: 'cut', answered: true, outcome: 'again' },
  { name: 'no response', problem: 'cut', outcome: 'later' },
  { name: 'silence', problem: 'silent', outcome: 'again' },
];

export function endingOf(facts: StreamFacts): Ending {
  const found = ENDINGS.find(
    ({ hasEnded, answered, hasOutput, problem }) =>
      (hasEnded ?? facts.hasEnded) === facts.hasEnded &&
      (answered ?? facts.answered) === facts.answered &&
      (hasOutput ?? facts.hasOutput) === facts.hasOutput &&
      (problem ?? facts.problem) === facts.problem,
  );
  if (!found) throw new Error(`No row for ${JSON.stringify(facts)}.`);
  return found;
}

function firstOf(list: unknown): WireEvent {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isObject(first) ? first : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
