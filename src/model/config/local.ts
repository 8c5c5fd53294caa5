import { field } from '../../base/json.ts';
import { LOCAL_SERVERS, type ModelConfig } from './models.ts';

interface LocalModelsOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/** A local server that runs responds immediately. */
const TIMEOUT_MS = 400;
const MAX_MODELS = 100;
const MAX_ID_CHARS = 200;

/** The models of this machine, named `ollama/…` and `lmstudio/…`. Sends nothing elsewhere, and never rejects. */
export async function findLocalModels(options: LocalModelsOptions): Promise<readonly ModelConfig[]> {
  const found = await Promise.all(
    [...LOCAL_SERVERS].map(([id, baseUrl]) => listServer(id, baseUrl, options).catch(() => [])),
  );
  return found.flat();
}

async function listServer(
  id: string,
  baseUrl: string,
  { fetch, signal, timeoutMs = TIMEOUT_MS }: LocalModelsOptions,
): Promise<readonly ModelConfig[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const response = await fetch(`${baseUrl}/models`, {
    // A redirect could lead to another machine.
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
  });
  if (!response.ok) return [];
  return readIds(await response.json())
    .slice(0, MAX_MODELS)
    .map((model) => ({ name: `${id}/${model}`, provider: 'openai-compatible', model, baseUrl }));
}

function readIds(response: unknown): readonly string[] {
  const list = field(response, 'data');
  const ids = Array.isArray(list) ? list.map((each) => field(each, 'id')) : [];
  return ids.filter((id) => typeof id === 'string').filter(isChatModel);
}

/** Not an embedding model. */
function isChatModel(id: string): boolean {
  return id.trim() !== '' && id.length <= MAX_ID_CHARS && !/\p{Cc}/u.test(id) && !/embed/i.test(id);
}
