import { isObject } from '../../base/json.ts';
import { LOCAL_SERVERS, type ModelConfig } from './models.ts';

export interface LocalModelsOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/** A program on this machine that does not answer at once is not there. */
const TIMEOUT_MS = 400;
const MAX_MODELS = 100;
const MAX_ID_CHARS = 200;

/** The models that run on this machine, named `ollama/…` and `lmstudio/…`. Asks nobody else, and never rejects. */
export async function findLocalModels(options: LocalModelsOptions): Promise<readonly ModelConfig[]> {
  const found = await Promise.all(
    [...LOCAL_SERVERS].map(([id, baseUrl]) => listModels({ id, baseUrl }, options).catch(() => [])),
  );
  return found.flat();
}

async function listModels(
  { id, baseUrl }: { readonly id: string; readonly baseUrl: string },
  { fetch, signal, timeoutMs = TIMEOUT_MS }: LocalModelsOptions,
): Promise<readonly ModelConfig[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const response = await fetch(`${baseUrl}/models`, {
    // A redirect could lead away from this machine.
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  });
  if (!response.ok) return [];
  return readIds(await response.json())
    .slice(0, MAX_MODELS)
    .map((model) => ({ name: `${id}/${model}`, provider: 'openai-compatible', model, baseUrl }));
}

function readIds(answer: unknown): readonly string[] {
  const list = isObject(answer) ? answer['data'] : undefined;
  const ids = Array.isArray(list) ? list.map((each) => (isObject(each) ? each['id'] : undefined)) : [];
  return ids.filter((id) => typeof id === 'string').filter(isChatModel);
}

/** Models that only make vectors of text answer nothing. */
function isChatModel(id: string): boolean {
  return id.trim() !== '' && id.length <= MAX_ID_CHARS && !/\p{Cc}/u.test(id) && !/embed/i.test(id);
}
