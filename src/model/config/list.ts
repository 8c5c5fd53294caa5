import { field, isObject, parseJson } from '../../base/json.ts';
import { headersFor, hostOf } from '../providers/endpoint.ts';
import { ModelError, toFailure } from '../providers/failure.ts';
import { baseUrlOf } from '../providers/wire.ts';
import type { ModelConfig } from './models.ts';

interface ListModelsOptions {
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

type Endpoint = Pick<ModelConfig, 'provider' | 'baseUrl' | 'headers'>;

const MAX_PAGES = 20;

/** The names of the models that an endpoint offers, sorted. Rejects with a message for the user. */
export async function listModels(config: Endpoint, options: ListModelsOptions): Promise<readonly string[]> {
  const names = new Set<string>();
  let query = FIRST_PAGE[config.provider] ?? '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const response = await getJson(config, `/models${query}`, options);
    for (const name of namesOf(response, hostOf(config))) names.add(name);
    const next = nextPage(response);
    if (next === undefined) break;
    query = next;
  }
  return [...names].sort();
}

const FIRST_PAGE: Readonly<Record<string, string>> = { anthropic: '?limit=1000', google: '?pageSize=1000' };

type Fields = Readonly<Record<string, unknown>>;

function nextPage({ nextPageToken: token, has_more: hasMore, last_id: last }: Fields): string | undefined {
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
): Promise<Fields> {
  const host = hostOf(config);
  const secrets = [key ?? '', ...Object.values(config.headers ?? {})];
  try {
    const response = await fetch(`${baseUrlOf(config)}${path}`, {
      headers: headersFor(config, key),
      redirect: 'manual',
      ...(signal && { signal }),
    });
    const body = await response.text();
    if (response.ok) return readJson(body, host);
    throw toError(response, body, host);
  } catch (error) {
    signal?.throwIfAborted();
    throw toFailure(error, { host, model: 'any', secrets });
  }
}

function notAList(host: string): ModelError {
  return new ModelError({ message: `${host} did not respond with a list of models. Check the baseUrl.` });
}

/** An object with the fields of the SDK's errors, for `toFailure`, unless there is a better message. */
function toError(response: Response, responseBody: string, host: string): object {
  const { status: statusCode } = response;
  const problem = statusCode < 400 ? 'redirects to another address' : 'does not list its models';
  if (statusCode < 400 || statusCode === 404) {
    return new ModelError({ message: `${host} ${problem}. Check the baseUrl.` });
  }
  const message = field(field(parseJson(responseBody), 'error'), 'message');
  return { statusCode, message, responseBody, responseHeaders: Object.fromEntries(response.headers) };
}

function readJson(body: string, host: string): Fields {
  const parsed = parseJson(body);
  if (isObject(parsed)) return parsed;
  if (Array.isArray(parsed)) return { data: parsed };
  throw notAList(host);
}

function namesOf({ data, models }: Fields, host: string): readonly string[] {
  const list = data ?? models;
  if (!Array.isArray(list)) throw notAList(host);
  return list.filter(isObject).filter(canChat).flatMap(nameOf);
}

function nameOf({ id, name }: Fields): readonly string[] {
  const found = typeof id === 'string' ? id : name;
  return typeof found === 'string' && found !== '' ? [found.replace(/^models\//, '')] : [];
}

/** Most providers do not report it; the others use different fields. */
function canChat(model: Fields): boolean {
  const { supportedGenerationMethods: methods, architecture, capabilities, type } = model;
  if (Array.isArray(methods) && !methods.includes('generateContent')) return false;
  const outputs = isObject(architecture) ? architecture['output_modalities'] : undefined;
  if (Array.isArray(outputs) && !outputs.includes('text')) return false;
  if (isObject(capabilities) && capabilities['completion_chat'] === false) return false;
  return !/^(embeddings?|image|audio|rerank|moderation|transcribe)$/.test(
    typeof type === 'string' ? type : '',
  );
}
