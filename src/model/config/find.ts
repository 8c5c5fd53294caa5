import { field } from '../../base/json.ts';
import type { ChatModel } from '../../ports/models.ts';
import { needsKey } from './keys.ts';
import { findModel, LOCAL_SERVERS, type ModelConfig, TOUR } from './models.ts';

interface ModelSources {
  readonly models: () => ReadonlyMap<string, ModelConfig>;
  readonly defaultModel: () => string | undefined;
  /** May ask the user. */
  readonly keyFor: (config: ModelConfig) => Promise<string | undefined>;
  /** Tells the user how to set a missing key. */
  readonly keyHint: (config: ModelConfig) => string;
  /** VS Code's model of that name, or any of its models. */
  readonly editorModel?: ((name: string | undefined) => Promise<ChatModel | undefined>) | undefined;
}

/** Finds the model that a chat names, or a default. */
export class ModelFinder {
  readonly #sources: ModelSources;
  /** Remembered, because a search at every step of a run would be slow. */
  #local: ModelConfig | undefined;

  constructor(sources: ModelSources) {
    this.#sources = sources;
  }

  /** Rejects with a message for the user. */
  async find(name: string | undefined): Promise<ChatModel> {
    const { models, defaultModel } = this.#sources;
    const [first] = models().keys();
    const wanted = name ?? defaultModel() ?? first;
    if (wanted === undefined) return this.#findAny();
    const config = findModel(wanted, models());
    if (typeof config === 'string') throw new Error(config);
    return this.#open(config);
  }

  /** VS Code's models, then those of this machine, then the tour, which is always available. */
  async #findAny(): Promise<ChatModel> {
    const editorModel = await this.#sources.editorModel?.(undefined);
    if (editorModel) return editorModel;
    this.#local ??= (await findLocalModels())[0];
    return this.#open(this.#local ?? TOUR);
  }

  async #open(config: ModelConfig): Promise<ChatModel> {
    if (config.provider === 'tour') {
      const { createTourModel } = await import('../tour.ts');
      return createTourModel();
    }
    if (config.provider === 'vscode') return this.#openEditorModel(config);
    const key = await this.#sources.keyFor(config);
    if (key === undefined && needsKey(config)) {
      throw new Error(`There is no key for the model “${config.name}”. ${this.#sources.keyHint(config)}`);
    }
    const { createSdkModel } = await import('../providers/sdkModel.ts');
    return createSdkModel(config, { key });
  }

  async #openEditorModel({ name, model }: ModelConfig): Promise<ChatModel> {
    const found = await this.#sources.editorModel?.(model);
    if (found) return found;
    throw new Error(
      this.#sources.editorModel
        ? `VS Code offers no model “${model}” now. Sign in to its provider, or use “Filechat: Select Model”.`
        : `The model “${name}” is only available in VS Code.`,
    );
  }
}

/** A local server that runs responds immediately. */
const TIMEOUT_MS = 400;
const MAX_MODELS = 100;
const MAX_ID_CHARS = 200;

/** The models of this machine, named `ollama/…` and `lmstudio/…`. Sends nothing elsewhere, and never rejects. */
export async function findLocalModels(
  fetch = globalThis.fetch,
  timeoutMs = TIMEOUT_MS,
): Promise<readonly ModelConfig[]> {
  const list = async ([id, baseUrl]: readonly [string, string]) => {
    const signal = AbortSignal.timeout(timeoutMs);
    // A redirect could lead to another machine.
    const response = await fetch(`${baseUrl}/models`, { redirect: 'error', signal });
    return response.ok ? readModels(id, baseUrl, await response.json()) : [];
  };
  const found = await Promise.all([...LOCAL_SERVERS].map((server) => list(server).catch(() => [])));
  return found.flat();
}

function readModels(id: string, baseUrl: string, response: unknown): readonly ModelConfig[] {
  const list = field(response, 'data');
  const ids = Array.isArray(list) ? list.map((each) => field(each, 'id')) : [];
  return ids
    .filter((model) => typeof model === 'string')
    .filter(isChatModel)
    .slice(0, MAX_MODELS)
    .map((model) => ({ name: `${id}/${model}`, provider: 'openai-compatible', model, baseUrl }));
}

/** Not an embedding model. */
function isChatModel(id: string): boolean {
  return id.trim() !== '' && id.length <= MAX_ID_CHARS && !/\p{Cc}/u.test(id) && !/embed/i.test(id);
}
