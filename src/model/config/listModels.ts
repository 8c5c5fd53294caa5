import { BUDGET } from '../../base/budget.ts';
import { limitBody } from '../../base/httpBody.ts';
import { field, isObject, parseJson } from '../../base/json.ts';
import { headersFor, hostOf } from '../providers/endpoint.ts';
import { readErrorBody } from '../providers/errorBody.ts';
import { detailOf, ModelError, toFailure } from '../providers/modelError.ts';
import { baseUrlOf } from '../providers/wire.ts';
import type { ModelConfig } from './modelConfig.ts';
import type { LocalServer } from './presets.ts';
import { type ListedModel, newestFirst, readListing } from './readListing.ts';

interface ListModelsOptions {
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

type Endpoint = Pick<ModelConfig, 'provider' | 'baseUrl' | 'headers'>;

/** The endpoint does not accept the key. `reason` is the provider's own, or empty. */
export class KeyRefused extends ModelError {
  readonly reason: string;

  constructor(message: string, status: number, reason: string) {
    super({ message, status });
    this.reason = reason;
  }
}

const MAX_PAGES = 20;

/** The chat models that an endpoint offers, newest first. Rejects with a message for the user. */
export async function listModels(
  config: Endpoint,
  options: ListModelsOptions,
): Promise<readonly ListedModel[]> {
  const models: ListedModel[] = [];
  let query = FIRST_PAGE[config.provider] ?? '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const response = await getJson(config, `/models${query}`, options);
    const found = readListing(response);
    if (!found) throw notAList(hostOf(config));
    models.push(...found);
    const next = nextPage(response);
    if (next === undefined) break;
    query = next;
  }
  return newestFirst(models);
}

/** The address below which models are listed: the given one, or for a bare host the usual `/v1`. */
export async function findBaseUrl(baseUrl: string, options: ListModelsOptions): Promise<string> {
  const candidates = new URL(baseUrl).pathname === '/' ? [`${baseUrl}/v1`, baseUrl] : [baseUrl];
  const failures: unknown[] = [];
  for (const candidate of candidates) {
    try {
      await listModels({ provider: 'openai-compatible', baseUrl: candidate }, options);
      return candidate;
    } catch (error) {
      if (error instanceof KeyRefused) return candidate;
      failures.push(error);
    }
  }
  throw failures[0];
}

/** Requests a path that needs a key. Rejects if the key is not accepted. */
export async function checkKey(config: Endpoint, path: string, options: ListModelsOptions): Promise<void> {
  await getJson(config, path, options);
}

const FIRST_PAGE: Readonly<Record<string, string>> = { anthropic: '?limit=1000', google: '?pageSize=1000' };

function nextPage(response: unknown): string | undefined {
  const token = field(response, 'nextPageToken');
  if (typeof token === 'string' && token !== '') {
    return `?pageSize=1000&pageToken=${encodeURIComponent(token)}`;
  }
  const last = field(response, 'last_id');
  if (field(response, 'has_more') !== true || typeof last !== 'string') return undefined;
  return `?limit=1000&after_id=${encodeURIComponent(last)}`;
}

async function getJson(
  config: Endpoint,
  path: string,
  { key, signal, fetch = globalThis.fetch }: ListModelsOptions,
): Promise<unknown> {
  const host = hostOf(config);
  const secrets = [key ?? '', ...Object.values(config.headers ?? {})];
  const context = { host, model: 'any', secrets };
  try {
    const response = await fetch(`${baseUrlOf(config)}${path}`, {
      headers: headersFor(config, key),
      redirect: 'manual',
      ...(signal && { signal }),
    });
    const body = await limitBody(response, { maxBytes: BUDGET.bodyBytes }).text();
    if (response.ok) return readJson(body, host);
    const problem = toError(response, body, host);
    if (!isRefused(response.status, body)) throw problem;
    const { message } = toFailure(problem, context);
    throw new KeyRefused(message, response.status, detailOf(readErrorBody(body).reason, context));
  } catch (error) {
    signal?.throwIfAborted();
    throw toFailure(error, context);
  }
}

function isRefused(status: number, body: string): boolean {
  return status === 401 || status === 403 || body.includes('API_KEY_INVALID');
}

function notAList(host: string): ModelError {
  return new ModelError({ message: `${host} did not respond with a list of models. Check the baseUrl.` });
}

/** An object with the fields of the SDK's errors, for `toFailure`, unless there is a better message. */
function toError(response: Response, responseBody: string, host: string): object {
  const { status: statusCode } = response;
  const problem = statusCode < 400 ? 'redirects to another address' : 'does not list its models';
  if (statusCode < 400 || statusCode === 404) {
    return new ModelError({ message: `${host} ${problem}. Check the baseUrl.`, status: statusCode });
  }
  const message = readErrorBody(responseBody).reason;
  return { statusCode, message, responseBody, responseHeaders: Object.fromEntries(response.headers) };
}

function readJson(body: string, host: string): unknown {
  const parsed = parseJson(body);
  if (isObject(parsed) || Array.isArray(parsed)) return parsed;
  throw notAList(host);
}

/** A server that runs on this machine responds at once, but a busy machine can be slow. */
const TIMEOUT_MS = 1_000;
const MAX_MODELS = 100;

interface ProbeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The models of a program on this machine; none if it is not running or is another program. Never rejects. */
export async function listLocalModels(
  { baseUrl }: Pick<LocalServer, 'baseUrl'>,
  { signal, fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS }: ProbeOptions = {},
): Promise<readonly ListedModel[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${baseUrl}/models`, {
      // A redirect could lead to another machine.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    const limited = limitBody(response, { maxBytes: BUDGET.bodyBytes, maxValues: BUDGET.textValues });
    return response.ok ? (readListing(await limited.json()) ?? []).slice(0, MAX_MODELS) : [];
  } catch {
    // Nothing listens there, or it does not list models.
    return [];
  }
}
