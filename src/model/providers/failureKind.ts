import type { FailureKind } from '../../ports/failures.ts';

interface StatusFacts {
  readonly status: number;
  /** The provider's types and codes for the error. */
  readonly names: string;
  /** The provider's words. */
  readonly reason: string;
}

interface Rule {
  readonly kind: FailureKind;
  readonly status?: readonly number[];
  readonly names?: RegExp;
  readonly reason?: RegExp;
}

/** Of Ollama, FastAPI, nginx, Express, Kong, OpenAI and Groq. None of them names a model. */
const WRONG_PATH =
  /^\W*(error\W+)?(404\W*)?((page|file|path|route|resource|url) )?not found\W*\d*$|(invalid|unknown)( request)? (url|path|route|endpoint)|no route matched|cannot post \//i;

/**
 * The first rule that matches decides. A rule matches by its status, names or words; with a status, names and words
 * only narrow it. Words are needed where providers have no code: Anthropic for credit, xAI and Gemini for keys.
 */
const RULES: readonly Rule[] = [
  { kind: 'credit', names: /insufficient_quota|billing_(error|hard_limit|not_active)/i },
  { kind: 'credit', status: [402] },
  {
    kind: 'credit',
    status: [400, 403, 429],
    reason:
      /credit balance is too low|insufficient (balance|credits?|funds)|(have|has) any credits|used all available credits|spending limit/i,
  },
  { kind: 'key', names: /API_KEY_INVALID|invalid_api_key|authentication_error/i },
  { kind: 'key', status: [401] },
  {
    kind: 'key',
    status: [400, 403],
    reason: /(invalid|incorrect) api key|api key (not valid|is invalid|expired)|key was reported as leaked/i,
  },
  { kind: 'tooLong', status: [413] },
  { kind: 'tooLong', names: /context_length_exceeded|exceed_context_size/i },
  {
    kind: 'tooLong',
    status: [400, 422],
    reason:
      /prompt is too long|maximum context length|context (window|length|size)|input token count .{0,40} exceeds|context the overflows|too large for model|tokens? .{0,40}must be <=|longer than the model/i,
  },
  // llama.cpp has no better status for a request that can never succeed.
  { kind: 'refused', status: [500], reason: /(image|audio|video) input is not supported/i },
  { kind: 'model', names: /model_not_found|invalid_model\b/i },
  {
    kind: 'model',
    status: [400, 422],
    reason: /model .{0,80}(does not exist|not exist|not found)|(invalid|unknown) model\b/i,
  },
  // OpenRouter: the model exists, but not with what the request asks for.
  { kind: 'refused', status: [404], reason: /no endpoints found/i },
  // The address is wrong, usually for want of `/v1`: the web server answers, not the API.
  { kind: 'format', status: [404], reason: WRONG_PATH },
  { kind: 'model', status: [404] },
  { kind: 'access', status: [403] },
  { kind: 'rateLimit', status: [429] },
  { kind: 'overloaded', status: [503, 529] },
];

/** For a status of 400 and more. */
export function kindOfStatus({ status, names, reason }: StatusFacts): FailureKind {
  const found = RULES.find((rule) => {
    if (rule.status && !rule.status.includes(status)) return false;
    return (rule.names?.test(names) ?? true) && (rule.reason?.test(reason) ?? true);
  });
  return found?.kind ?? (status >= 500 ? 'failed' : 'refused');
}

const RETRYABLE_STATUS: ReadonlySet<number> = new Set([408, 409, 425]);
const RETRYABLE_KINDS: ReadonlySet<FailureKind> = new Set(['rateLimit', 'overloaded', 'failed']);

/** Whether the same request may succeed later. */
export function isTransient(kind: FailureKind, status: number): boolean {
  return RETRYABLE_KINDS.has(kind) || (kind === 'refused' && RETRYABLE_STATUS.has(status));
}

/** Statuses for errors that a provider reports by name in a stream that began with status 200. */
const NAMED_STATUS: readonly (readonly [RegExp, number])[] = [
  [/insufficient_quota|rate_limit|too_many|RESOURCE_EXHAUSTED/i, 429],
  [/overload|unavailable/i, 529],
  [/authentication/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/invalid|bad_request|context_length/i, 400],
];

/** Treats unknown errors as transient. */
export function statusOfNames(names: string): number {
  return NAMED_STATUS.find(([pattern]) => pattern.test(names))?.[1] ?? 500;
}
