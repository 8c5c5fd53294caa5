import { isObject, textOf } from '../../base/json.ts';
import type { Failure, FailureKind } from '../../ports/failures.ts';
import type { ModelFailure } from '../../ports/models.ts';
import { isLocal } from '../config/modelAddress.ts';
import { BLOCKED_PORT, describeFailure, UNREACHABLE } from '../describeFailure.ts';
import type { StreamOutcome, StreamProblem } from './endings.ts';
import { readErrorBody } from './errorBody.ts';
import { isTransient, kindOfStatus, statusOfNames } from './failureKind.ts';

/** A provider's words are quoted whole; this only limits what a broken or hostile endpoint sends. */
const MAX_REASON_CHARS = 10_000;
const MAX_NAMES_CHARS = 1000;
const MAX_CAUSES = 6;

export interface RequestContext {
  readonly host: string;
  readonly model: string;
  /** The name of the model in the settings. */
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** The key and the values of the configured headers, which must not appear in a message. */
  readonly secrets: readonly string[];
}

interface FailureFacts {
  readonly message: string;
  readonly failure?: Failure | undefined;
  readonly problem?: StreamProblem | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
  readonly refused?: ModelFailure['refused'];
  readonly cause?: unknown;
}

export class ModelError extends Error implements ModelFailure {
  readonly kind = 'modelFailure';
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly problem: StreamProblem;
  readonly failure: Failure | undefined;
  readonly refused: ModelFailure['refused'];

  constructor(facts: FailureFacts, outcome?: StreamOutcome) {
    const { message, failure, problem = 'refused', retryAfterMs, status, refused, cause } = facts;
    super(message, { cause });
    this.name = 'ModelError';
    this.problem = problem;
    this.failure = failure;
    this.retryable =
      outcome === undefined ? problem !== 'refused' && problem !== 'wrongFormat' : outcome === 'again';
    this.retryAfterMs = retryAfterMs;
    this.status = status;
    this.refused = refused;
  }
}

type Details = Pick<FailureFacts, 'problem' | 'retryAfterMs' | 'refused' | 'cause'> &
  Pick<Failure, 'reason' | 'code' | 'status'> & {
    /** The status for errors of this kind, if the provider sent none. */
    readonly usualStatus?: number | undefined;
  };

function failureOf(kind: FailureKind, context: RequestContext, details: Details = {}): ModelError {
  const { reason, code, status, usualStatus, ...facts } = details;
  const { host, model, name, baseUrl } = context;
  const failure: Failure = { kind, host, model, name, baseUrl, reason, code, status };
  return new ModelError({
    ...facts,
    failure,
    status: status ?? usualStatus,
    message: describeFailure(failure),
  });
}

export function connectionLost(context: RequestContext, cause?: unknown): ModelError {
  return failureOf('lost', context, { problem: 'cut', cause });
}

export function wrongFormat(context: RequestContext, { reason = '', ...details }: Details): ModelError {
  return failureOf('format', context, {
    problem: 'wrongFormat',
    reason: detailOf(reason, context),
    ...details,
  });
}

/** An error that the provider reports in a response that began normally. */
export function reportedFailure(error: object, context: RequestContext): ModelError {
  return explainReport(readError(error), context);
}

export function stopped(): ModelError {
  return new ModelError({ message: 'The reply was stopped.' });
}

/** Converts an error that was thrown or that arrived in a stream. */
export function toFailure(error: unknown, context: RequestContext): ModelError {
  if (error instanceof ModelError) return error;
  const facts = readError(error);
  if (facts.status !== undefined && facts.status >= 400) return explainReport(facts, context);
  const code = networkCode(error);
  if (code !== undefined) return explainNetwork(code, facts, context, error);
  if (facts.name === 'AI_JSONParseError')
    return wrongFormat(context, { problem: 'unreadable', cause: error });
  if (facts.name === 'AI_TypeValidationError') return wrongFormat(context, { cause: error });
  // A status below 400 only says how the stream began.
  if (facts.status !== undefined || facts.name === 'AI_InvalidResponseDataError') {
    return connectionLost(context, error);
  }
  if (isReported(facts)) return explainReport(facts, context);
  // `fetch` fails without a reason for status 407.
  const reason = facts.reason.replace(/^Cannot connect to API:\s*$/, '');
  const message =
    detailOf(reason, context) || `${context.host} did not respond. A proxy may require a sign-in.`;
  return new ModelError({ message, cause: error });
}

type ErrorFacts = ReturnType<typeof readError>;

/** Reads an error from the SDK, a stream or `fetch`. */
function readError(error: unknown) {
  const outer = isObject(error) ? error : { message: String(error) };
  const data = isObject(outer['data']) ? outer['data'] : outer;
  const inner = isObject(data['error']) ? data['error'] : data;
  const body = textOf(outer['responseBody']);
  // The SDK has only the status text as message when the body is not in the expected shape.
  const found = readErrorBody(body === '' ? data : body);
  return {
    name: textOf(outer['name']),
    // One character more shows that it is cut.
    reason: (found.reason || textOf(outer['message'])).slice(0, MAX_REASON_CHARS + 1),
    status: statusOf(outer['statusCode']) ?? statusOf(inner['code']) ?? statusOf(outer['code']),
    // The provider's own types and codes for the error.
    names: [outer['type'], outer['code'], inner['type'], inner['code'], inner['status'], found.names]
      .map((name) => textOf(name).slice(0, MAX_NAMES_CHARS))
      .join(' '),
    headers: isTextRecord(outer['responseHeaders']) ? outer['responseHeaders'] : {},
    body,
    request: outer['requestBodyValues'],
  };
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && status >= 100 && status <= 599 ? status : undefined;
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((each) => typeof each === 'string');
}

/** What keys of providers begin with, tokens of sign-ins, and the value of an authorization header. */
const KEY =
  /\b(?:(?:sk|xai|pplx|csk|nvapi|glpat|xox[abpr])-|AIza|AKIA|(?:gsk|hf|r8|gh[opsu]|github_pat)_|eyJ[\w-]+\.|(?:Bearer|Basic)\s+(?=\S{8}))[\w*./+=-]*[\w*/+=-]/gi;
/** Such as `api_key=…`, `"x-api-key": "…"` and `?key=…`. */
const KEY_FIELD =
  /((?:[?&]key|\b(?:x-)?(?:goog-)?api[-_]?key|\b(?:access|auth|session)[-_]token|\bclient[-_]secret|\bpassword)["']?\s*[=:]\s*["']?)(?!«)[^\s"'&,;)}\]]{6,}/gi;

/** The provider's words, whole, as one line without keys. */
export function detailOf(reason: string, { secrets }: Pick<RequestContext, 'secrets'>): string {
  let line = reason.slice(0, MAX_REASON_CHARS);
  for (const secret of secrets) {
    if (secret.length >= 4) line = line.replaceAll(secret, '«key»');
  }
  line = line
    .replace(KEY, '«key»')
    .replace(KEY_FIELD, '$1«key»')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return reason.length <= MAX_REASON_CHARS ? line : `${line}…`;
}

function explainReport(facts: ErrorFacts, context: RequestContext): ModelError {
  const { names } = facts;
  const own = facts.status !== undefined && facts.status >= 400 ? facts.status : undefined;
  const status = own ?? statusOfNames(names);
  const kind = kindOfStatus({ status, names, reason: facts.reason });
  const reason = detailOf(facts.reason, context);
  return failureOf(kind, context, {
    reason: kind === 'refused' && reason === '' ? `status ${status}` : reason,
    problem: isTransient(kind, status) ? 'reported' : 'refused',
    status: own,
    usualStatus: status,
    retryAfterMs: readRetryAfter(facts.headers, Date.now(), facts.body),
    refused: { request: facts.request, response: facts.body },
  });
}

function isReported({ name, names, reason }: ErrorFacts): boolean {
  return name === '' && (names.trim() !== '' || reason !== '');
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/;

function explainNetwork(
  code: string,
  { status }: ErrorFacts,
  context: RequestContext,
  cause: unknown,
): ModelError {
  if (CERTIFICATE.test(code)) return failureOf('certificate', context, { code, cause });
  if (!UNREACHABLE.has(code) || status !== undefined) return connectionLost(context, cause);
  // On this machine, nothing changes until the user starts the server.
  const isOff = code === BLOCKED_PORT || (code === 'ECONNREFUSED' && isLocal(context.baseUrl ?? ''));
  return failureOf('unreachable', context, { code, problem: isOff ? 'refused' : 'cut', cause });
}

/** The innermost code of the system or of `fetch`, such as ECONNREFUSED. */
function networkCode(error: unknown): string | undefined {
  let code: string | undefined;
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && isObject(current); depth += 1) {
    if (current['message'] === 'bad port') code = BLOCKED_PORT;
    const own = textOf(current['code']);
    if (/^(E[A-Z_]+|UND_ERR_\w+|\w*CERT\w*|UNABLE_TO_VERIFY\w*)$/.test(own)) code = own;
    // A host with several addresses fails with one error for each.
    const errors: unknown = current['errors'];
    current = Array.isArray(errors) && errors.length > 0 ? errors[0] : current['cause'];
  }
  return code ?? (isFetchFailure(error) ? 'UND_ERR_SOCKET' : undefined);
}

export function isFetchFailure(error: unknown): boolean {
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
