import { isObject } from '../../base/json.ts';
import type { ModelFailure } from '../../ports/models.ts';

import type { StreamTrouble, StreamVerdict } from './streamEnd.ts';

/** Long enough for a provider's own words, short enough for a line in a document. */
const MAX_WORDS_CHARS = 600;
const MAX_CAUSES = 6;

export interface AboutRequest {
  readonly host: string;
  readonly model: string;
  /** The key and the values of the configured headers: never in a message. */
  readonly secrets: readonly string[];
  readonly now: () => number;
}

interface FailureFacts {
  readonly message: string;
  readonly trouble?: StreamTrouble | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

export class ModelError extends Error implements ModelFailure {
  readonly kind = 'modelFailure';
  readonly retryable: boolean;
  readonly begun: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly trouble: StreamTrouble;

  constructor(facts: FailureFacts, verdict?: StreamVerdict) {
    const { message, trouble = 'refused', retryAfterMs, status, cause } = facts;
    super(message, { cause });
    this.name = 'ModelError';
    this.trouble = trouble;
    this.retryable =
      verdict === undefined
        ? trouble !== 'refused' && trouble !== 'wrongFormat'
        : verdict === 'again' || verdict === 'later';
    this.begun = verdict === 'again';
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

export function connectionLost(host: string, cause?: unknown): ModelError {
  return new ModelError({
    message: `The connection to ${host} was lost before the reply had ended.`,
    trouble: 'cut',
    cause,
  });
}

export function wrongFormat(
  host: string,
  trouble: 'unreadable' | 'wrongFormat' = 'wrongFormat',
  cause?: unknown,
): ModelError {
  const message = `${host} sent a response in an unknown format. Check the model's provider and baseUrl.`;
  return new ModelError({ message, trouble, cause });
}

export function stopped(): ModelError {
  return new ModelError({ message: 'The reply was stopped.' });
}

/** Makes a failure of whatever was thrown, or came as an error within a stream. */
export function toFailure(error: unknown, about: AboutRequest): ModelError {
  if (error instanceof ModelError) return error;
  const seen = readError(error);
  if (seen.status !== undefined && seen.status >= 400) return explainStatus(seen, seen.status, about);
  const code = networkCode(error);
  if (code !== undefined) return explainNetwork(code, seen, about, error);
  // The status of a stream that began well says nothing about how it ended.
  if (seen.status !== undefined || seen.name === 'AI_InvalidResponseDataError') {
    return connectionLost(about.host, error);
  }
  if (seen.name === 'AI_JSONParseError') return wrongFormat(about.host, 'unreadable', error);
  if (seen.name === 'AI_TypeValidationError') return wrongFormat(about.host, 'wrongFormat', error);
  if (isNamed(seen)) return explainNamed(seen, about);
  return new ModelError({
    message: words(seen.message, about) || `${about.host} gave no answer.`,
    cause: error,
  });
}

// ---- What an error says ----------------------------------------------------------------------

/** An error of the packages, of a stream or of `fetch`, read as what it is: a foreign object. */
interface SeenError {
  readonly name: string;
  readonly message: string;
  readonly status: number | undefined;
  /** The provider's own names for what happened. */
  readonly names: string;
  readonly retryable: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function readError(error: unknown): SeenError {
  const outer = isObject(error) ? error : { message: String(error) };
  const data = isObject(outer['data']) ? outer['data'] : outer;
  const inner = isObject(data['error']) ? data['error'] : data;
  return {
    name: textOf(outer['name']),
    message: textOf(outer['message']) || textOf(inner['message']),
    status: statusOf(outer['statusCode']) ?? statusOf(inner['code']) ?? statusOf(outer['code']),
    names: [outer['type'], outer['code'], inner['type'], inner['code'], inner['status']]
      .map(textOf)
      .join(' '),
    retryable: typeof outer['isRetryable'] === 'boolean' ? outer['isRetryable'] : undefined,
    headers: isTextRecord(outer['responseHeaders']) ? outer['responseHeaders'] : {},
    body: textOf(outer['responseBody']),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 100 && status <= 599 ? status : undefined;
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** The provider's own words as one short line without a key in it. */
function words(message: string, { secrets }: AboutRequest): string {
  let line = message.slice(0, 4 * MAX_WORDS_CHARS);
  for (const secret of secrets) {
    if (secret.length >= 4) line = line.replaceAll(secret, '«key»');
  }
  line = line
    .replace(/\b(sk-|AIza|gsk_|Bearer )[\w*.-]+/g, '«key»')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= MAX_WORDS_CHARS ? line : `${line.slice(0, MAX_WORDS_CHARS)}…`;
}

function withWords(sentence: string, message: string): string {
  if (message === '') return `${sentence}.`;
  return `${sentence}: ${message}${/[.!?…]$/.test(message) ? '' : '.'}`;
}

// ---- By the status ---------------------------------------------------------------------------

const RETRYABLE = new Set([408, 409, 425, 429]);
const TOO_LONG =
  /context_length|prompt is too long|input token count .* exceeds|maximum context length|context (window|length|size)/i;

function explainStatus(seen: SeenError, status: number, about: AboutRequest): ModelError {
  const { host, model } = about;
  const said = words(seen.message, about);
  const failure = (message: string, retryable = false) =>
    new ModelError({
      message,
      trouble: retryable ? 'reported' : 'refused',
      status,
      retryAfterMs: readRetryAfter(seen.headers, about.now(), seen.body),
    });
  if (status === 401 || seen.body.includes('API_KEY_INVALID')) {
    return failure(`The key was not accepted for ${host}. Set the right one with “Filechat: Set API Key”.`);
  }
  if (status === 403) return failure(withWords(`The key was not accepted for ${host}`, said));
  if (status === 404) return failure(withWords(`There is no such model as ${model} at ${host}`, said));
  if (status === 413 || (status === 400 && TOO_LONG.test(`${seen.names} ${seen.message}`))) {
    return failure(
      `${withWords(`The chat is too long for ${model}`, said)} Shorten it, or choose a model that takes more.`,
    );
  }
  if (seen.names.includes('insufficient_quota') || status === 402) {
    return failure(withWords(`The account at ${host} has no credit left`, said));
  }
  if (status === 429) return failure(withWords(`${host} takes no more requests for now`, said), true);
  if (status === 529 || status === 503) return failure(withWords(`${host} is overloaded`, said), true);
  if (status >= 500) return failure(withWords(`${host} has failed (status ${status})`, said), true);
  return failure(withWords(`${host} refused the request`, said || `status ${status}`), RETRYABLE.has(status));
}

// ---- By the provider's names, in a stream that began with 200 ---------------------------------

const NAMES: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_limit|too_many|RESOURCE_EXHAUSTED/i, 429],
  [/overload|unavailable/i, 529],
  [/authentication/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/invalid|bad_request|context_length/i, 400],
];

function isNamed({ name, names, message }: SeenError): boolean {
  return name === '' && (names.trim() !== '' || message !== '');
}

/** What a provider calls by no name that is known is its own trouble, and may pass. */
function explainNamed(seen: SeenError, about: AboutRequest): ModelError {
  const status = NAMES.find(([pattern]) => pattern.test(seen.names))?.[1] ?? 500;
  return explainStatus(seen, status, about);
}

// ---- Without an answer -----------------------------------------------------------------------

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/;
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there',
  ENOTFOUND: 'there is no such host, or no network',
  EAI_AGAIN: 'there is no such host, or no network',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
};

function explainNetwork(code: string, seen: SeenError, about: AboutRequest, cause: unknown): ModelError {
  if (CERTIFICATE.test(code)) {
    return new ModelError({ message: `The certificate of ${about.host} is not trusted (${code}).`, cause });
  }
  const reason = REASONS[code];
  if (reason === undefined || seen.status !== undefined) return connectionLost(about.host, cause);
  return new ModelError({ message: `Could not reach ${about.host}: ${reason}.`, trouble: 'cut', cause });
}

/** The innermost code of the system or of `fetch`, such as ECONNREFUSED. */
function networkCode(error: unknown): string | undefined {
  let code: string | undefined;
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && isObject(current); depth += 1) {
    const own = textOf(current['code']);
    if (/^(E[A-Z_]+|UND_ERR_\w+|\w*CERT\w*|UNABLE_TO_VERIFY\w*)$/.test(own)) code = own;
    // A host with several addresses fails with one error for each.
    const errors: unknown = current['errors'];
    current = Array.isArray(errors) && errors.length > 0 ? errors[0] : current['cause'];
  }
  return code ?? (isFetchFailure(error) ? 'UND_ERR_SOCKET' : undefined);
}

function isFetchFailure(error: unknown): boolean {
  return error instanceof TypeError && /^(fetch failed|terminated|network error)/i.test(error.message);
}

/** How long a server wants us to wait; undefined when it does not say. */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
  body = '',
): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (milliseconds >= 0) return Math.round(milliseconds);
  const value = (headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  // Only a date has letters; `Date.parse` would make a date of some numbers too.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  // Gemini says it in the body of the error.
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000);
}
