import { isObject } from '../../base/json.ts';
import { headersFor, hostOf } from '../providers/endpoint.ts';
import { toFailure } from '../providers/failure.ts';
import { baseUrlOf } from '../providers/wire.ts';
import type { ModelConfig } from './models.ts';

export interface ListModelsOptions {
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

type Endpoint = Pick<ModelConfig, 'provider' | 'baseUrl' | 'headers'>;

/** No provider has so many; a list that never ends has an end here. */
const MAX_PAGES = 20;

/** The names of the models that an endpoint offers, in order. Rejects with a message fit for the user. */
export async function listModels(config: Endpoint, options: ListModelsOptions): Promise<readonly string[]> {
  const names = new Set<string>();
  let query = FIRST_PAGE[config.provider] ?? '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await getJson(config, `/models${query}`, options);
    for (const name of namesOf(answer, hostOf(config))) names.add(name);
    const next = nextPage(answer);
    if (next === undefined) break;
    query = next;
  }
  return [...names].sort();
}

const FIRST_PAGE: Readonly<Record<string, string>> = { anthropic: '?limit=1000', google: '?pageSize=1000' };

function nextPage(answer: Readonly<Record<string, unknown>>): string | undefined {
  const { nextPageToken: token, has_more: hasMore, last_id: last } = answer;
  if (typeof token === 'string' && token !== '') {
    return `?pageSize=1000&pageToken=${encodeURIComponent(token)}`;
  }
  if (hasMore !== true || typeof last !== 'string') return undefined;
  return `?limit=1000&after_id=${encodeURIComponent(last)}`;
}

async function getJson(
  config: Endpoint,
  path: string,
  { key, signal, fetch = globalThis.fetch }: ListModelsOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const host = hostOf(config);
  const secrets = [key ?? '', ...Object.values(config.headers ?? {})];
  const about = { host, model: 'any', secrets, now: () => Date.now() };
  try {
    const response = await fetch(`${baseUrlOf(config)}${path}`, {
      headers: headersFor(config, key),
      redirect: 'manual',
      ...(signal && { signal }),
    });
    const body = await response.text();
    if (response.ok) return readJson(body, host);
    throw toSeenError(response, body, host);
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof PlainError ? error : toFailure(error, about);
  }
}

class PlainError extends Error {}

function toSeenError(response: Response, responseBody: string, host: string): object {
  const { status: statusCode } = response;
  if (statusCode < 400) return new PlainError(`${host} points to another address. Check the baseUrl.`);
  if (statusCode === 404) return new PlainError(`${host} does not list its models. Check the baseUrl.`);
  const message = messageOf(responseBody);
  return { statusCode, message, responseBody, responseHeaders: Object.fromEntries(response.headers) };
}

function messageOf(body: string): string {
  const parsed = parseJson(body);
  const error = isObject(parsed) ? parsed['error'] : undefined;
  return isObject(error) && typeof error['message'] === 'string' ? error['message'] : '';
}

function readJson(body: string, host: string): Readonly<Record<string, unknown>> {
  const answer = parseJson(body);
  if (isObject(answer)) return answer;
  if (Array.isArray(answer)) return { data: answer };
  throw new PlainError(`${host} did not answer with a list of models. Check the baseUrl.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function namesOf(answer: Readonly<Record<string, unknown>>, host: string): readonly string[] {
  const list = answer['data'] ?? answer['models'];
  if (!Array.isArray(list)) {
    throw new PlainError(`${host} did not answer with a list of models. Check the baseUrl.`);
  }
  return list.filter(isObject).filter(canChat).flatMap(nameOf);
}

function nameOf({ id, name }: Readonly<Record<string, unknown>>): readonly string[] {
  const found = typeof id === 'string' ? id : name;
  return typeof found === 'string' && found !== '' ? [found.replace(/^models\//, '')] : [];
}

/** Most do not say; each of those that do has its own way. */
function canChat(model: Readonly<Record<string, unknown>>): boolean {
  const { supportedGenerationMethods: methods, architecture, capabilities, type } = model;
  if (Array.isArray(methods) && !methods.includes('generateContent')) return false;
  const outputs = isObject(architecture) ? architecture['output_modalities'] : undefined;
  if (Array.isArray(outputs) && !outputs.includes('text')) return false;
  if (isObject(capabilities) && capabilities['completion_chat'] === false) return false;
  return !/^(embeddings?|image|audio|rerank|moderation|transcribe)$/.test(
    typeof type === 'string' ? type : '',
  );
}
