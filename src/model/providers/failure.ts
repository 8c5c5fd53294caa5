import { isObject } from '../../base/json.ts';
import type { ModelFailure } from '../../ports/models.ts';
import type { StreamOutcome, StreamProblem } from './streamEnd.ts';

const MAX_DETAIL_CHARS = 600;
const MAX_CAUSES = 6;

export interface RequestContext {
  readonly host: string;
  readonly model: string;
  /** The key and the values of the configured headers, which must not appear in a message. */
  readonly secrets: readonly string[];
}

interface FailureFacts {
  readonly message: string;
  readonly problem?: StreamProblem | undefined;
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
  readonly problem: StreamProblem;

  constructor(facts: FailureFacts, outcome?: StreamOutcome) {
    const { message, problem = 'refused', retryAfterMs, status, cause } = facts;
    super(message, { cause });
    this.name = 'ModelError';
    this.problem = problem;
    this.retryable =
      outcome === undefined
        ? problem !== 'refused' && problem !== 'wrongFormat'
        : outcome === 'again' || outcome === 'later';
    this.begun = outcome === 'again';
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

export function connectionLost(host: string, cause?: unknown): ModelError {
  return new ModelError({
    message: `The connection to ${host} was lost before the reply ended.`,
    problem: 'cut',
    cause,
  });
}

export function wrongFormat(
  host: string,
  problem: 'unreadable' | 'wrongFormat' = 'wrongFormat',
  cause?: unknown,
): ModelError {
  const message = `${host} sent a response in an unknown format. Check the model's provider and baseUrl.`;
  return new ModelError({ message, problem, cause });
}

export function stopped(): ModelError {
  return new ModelError({ message: 'The reply was stopped.' });
}

/** Converts an error that was thrown or that arrived in a stream. */
export function toFailure(error: unknown, context: RequestContext): ModelError {
  if (error instanceof ModelError) return error;
  const { host } = context;
  const facts = readError(error);
  if (facts.status !== undefined && facts.status >= 400) return explainStatus(facts, facts.status, context);
  const code = networkCode(error);
  if (code !== undefined) return explainNetwork(code, facts, host, error);
  // A status below 400 only says how the stream began.
  if (facts.status !== undefined || facts.name === 'AI_InvalidResponseDataError') {
    return connectionLost(host, error);
  }
  if (facts.name === 'AI_JSONParseError') return wrongFormat(host, 'unreadable', error);
  if (facts.name === 'AI_TypeValidationError') return wrongFormat(host, 'wrongFormat', error);
  if (isReported(facts)) return explainReported(facts, context);
  const message = detailOf(facts.message, context) || `${host} did not respond.`;
  return new ModelError({ message, cause: error });
}

type ErrorFacts = ReturnType<typeof readError>;

/** Reads an error from the SDK, a stream or `fetch`. */
function readError(error: unknown) {
  const outer = isObject(error) ? error : { message: String(error) };
  const data = isObject(outer['data']) ? outer['data'] : outer;
  const inner = isObject(data['error']) ? data['error'] : data;
  return {
    name: textOf(outer['name']),
    message: textOf(outer['message']) || textOf(inner['message']),
    status: statusOf(outer['statusCode']) ?? statusOf(inner['code']) ?? statusOf(outer['code']),
    // The provider's own types and codes for the error.
    names: [outer['type'], outer['code'], inner['type'], inner['code'], inner['status']]
      .map(textOf)
      .join(' '),
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

/** The provider's message as one short line without keys. */
function detailOf(message: string, { secrets }: RequestContext): string {
  let line = message.slice(0, 4 * MAX_DETAIL_CHARS);
  for (const secret of secrets) {
    if (secret.length >= 4) line = line.replaceAll(secret, '«key»');
  }
  line = line
    .replace(/\b(sk-|AIza|gsk_|Bearer )[\w*.-]+/g, '«key»')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= MAX_DETAIL_CHARS ? line : `${line.slice(0, MAX_DETAIL_CHARS)}…`;
}

function withDetail(sentence: string, detail: string): string {
  if (detail === '') return `${sentence}.`;
  return `${sentence}: ${detail}${/[.!?…]$/.test(detail) ? '' : '.'}`;
}

const RETRYABLE = new Set([408, 409, 425, 429]);
const TOO_LONG =
  /context_length|prompt is too long|input token count .* exceeds|maximum context length|context (window|length|size)/i;

function explainStatus(facts: ErrorFacts, status: number, context: RequestContext): ModelError {
  const { host, model } = context;
  const detail = detailOf(facts.message, context);
  const failure = (message: string, retryable = false) =>
    new ModelError({
      message,
      problem: retryable ? 'reported' : 'refused',
      status,
      retryAfterMs: readRetryAfter(facts.headers, Date.now(), facts.body),
    });
  if (status === 401 || facts.body.includes('API_KEY_INVALID')) {
    return failure(`The key was not accepted for ${host}. Set the right one with “Filechat: Set API Key”.`);
  }
  if (status === 403) return failure(withDetail(`The key was not accepted for ${host}`, detail));
  if (status === 404) return failure(withDetail(`${host} has no model ${model}`, detail));
  if (status === 413 || (status === 400 && TOO_LONG.test(`${facts.names} ${facts.message}`))) {
    const tooLong = withDetail(`The chat is too long for ${model}`, detail);
    return failure(`${tooLong} Shorten it, or choose a model with a larger context.`);
  }
  if (facts.names.includes('insufficient_quota') || status === 402) {
    return failure(withDetail(`The account at ${host} has no credit left`, detail));
  }
  if (status === 429) return failure(withDetail(`${host} is limiting the rate of requests`, detail), true);
  if (status === 529 || status === 503) return failure(withDetail(`${host} is overloaded`, detail), true);
  if (status >= 500) return failure(withDetail(`${host} failed with status ${status}`, detail), true);
  const refused = withDetail(`${host} refused the request`, detail || `status ${status}`);
  return failure(refused, RETRYABLE.has(status));
}

/** Statuses for errors that a provider reports by name in a stream that began with status 200. */
const NAMES: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_limit|too_many|RESOURCE_EXHAUSTED/i, 429],
  [/overload|unavailable/i, 529],
  [/authentication/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/invalid|bad_request|context_length/i, 400],
];

function isReported({ name, names, message }: ErrorFacts): boolean {
  return name === '' && (names.trim() !== '' || message !== '');
}

/** Treats unknown errors as transient. */
function explainReported(facts: ErrorFacts, context: RequestContext): ModelError {
  const status = NAMES.find(([pattern]) => pattern.test(facts.names))?.[1] ?? 500;
  return explainStatus(facts, status, context);
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/;
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host, or no network',
  EAI_AGAIN: 'there is no such host, or no network',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'the host is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the response timed out',
};

function explainNetwork(code: string, { status }: ErrorFacts, host: string, cause: unknown): ModelError {
  if (CERTIFICATE.test(code)) {
    return new ModelError({ message: `The certificate of ${host} is not trusted (${code}).`, cause });
  }
  const reason = REASONS[code];
  if (reason === undefined || status !== undefined) return connectionLost(host, cause);
  return new ModelError({ message: `Could not reach ${host}: ${reason}.`, problem: 'cut', cause });
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

/** How long the server asks to wait. */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
  body = '',
): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (milliseconds >= 0) return Math.round(milliseconds);
  const value = (headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  // Requires letters, because `Date.parse` accepts some plain numbers.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  // Gemini puts the delay into the body.
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000);
}
