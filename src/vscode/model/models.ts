import { ModelFinder } from '../../model/config/find.ts';
import { envKey, needsKey } from '../../model/config/keys.ts';
import { findLocalModels } from '../../model/config/local.ts';
import { findModel, type ModelConfig, type ModelPrice, readModels } from '../../model/config/models.ts';
import { priceOf } from '../../model/config/prices.ts';
import { isSdkProvider, wireOf } from '../../model/providers/wire.ts';
import type { Log } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';
import { defaultModel, userModels } from '../settings.ts';
import { EditorModel, editorModelName, findEditorModel, listEditorModels } from './editorModel.ts';
import type { Keys } from './keys.ts';
import { type ModelProvider, pickModel } from './pickModel.ts';

/** Providers with a well-known address. */
export const PROVIDERS = ['anthropic', 'openai', 'google'] as const;

export class EditorModels {
  readonly #keys: Keys;
  readonly #log: Log;
  readonly #finder: ModelFinder;
  readonly #loggedProblems = new Set<string>();

  constructor(keys: Keys, log: Log) {
    this.#keys = keys;
    this.#log = log;
    this.#finder = new ModelFinder({
      models: () => this.configured(),
      defaultModel,
      keyFor: (config) => this.#keyFor(config),
      keyHint: () => 'Use “Filechat: Set API Key…”.',
      local: () => findLocalModels({ fetch }),
      editorModel: openEditorModel,
    });
  }

  /** Rejects with a message for the user; may ask for a key. */
  async find(name: string | undefined): Promise<ChatModel> {
    try {
      return await this.#finder.find(name);
    } catch (error) {
      // A problem in the model's own settings explains more than “not found”.
      const problem =
        name && readModels(userModels()).problems.find((each) => each.includes(JSON.stringify(name)));
      throw problem ? new Error(problem, { cause: error }) : error;
    }
  }

  configured(): ReadonlyMap<string, ModelConfig> {
    const { models, problems } = readModels(userModels());
    for (const problem of problems) {
      if (!this.#loggedProblems.has(problem)) this.#log.warn(problem);
      this.#loggedProblems.add(problem);
    }
    return models;
  }

  /** The configuration of a model, without requests. Undefined for VS Code's models and the tour. */
  configOf(name: string | undefined): ModelConfig | undefined {
    const models = this.configured();
    const wanted = name ?? defaultModel() ?? [...models.keys()][0];
    const found = wanted === undefined ? undefined : findModel(wanted, models);
    return typeof found === 'object' ? found : undefined;
  }

  /** Whether a model accepts files of a type, as far as that is known without requests. */
  accepts(name: string | undefined, mimeType: string): boolean {
    const config = this.configOf(name);
    return !config || !isSdkProvider(config.provider) || wireOf(config).files.has(mimeType);
  }

  priceOf(name: string | undefined): ModelPrice | undefined {
    const config = this.configOf(name);
    return config && priceOf(config);
  }

  async pick(question: string, current: string | undefined): Promise<string | undefined> {
    return pickModel({
      question,
      configured: [...this.configured().values()],
      providers: await this.#providersWithKey(),
      current,
    });
  }

  async askKey(config: ModelConfig): Promise<void> {
    await this.#keys.ask(config);
  }

  async #providersWithKey(): Promise<readonly ModelProvider[]> {
    const found = await Promise.all(PROVIDERS.map((provider) => this.#provider(provider)));
    return found.filter((each) => each !== undefined);
  }

  async #provider(provider: (typeof PROVIDERS)[number]): Promise<ModelProvider | undefined> {
    const config: ModelConfig = { name: provider, provider, model: '' };
    const key = (await this.#keys.get(config)) ?? envKey(config, process.env);
    if (key === undefined) return undefined;
    return {
      name: provider,
      list: async (signal) => {
        const { listModels } = await import('../../model/config/list.ts');
        const names = await listModels(config, { key, signal });
        return names.map((model) => ({
          name: `${provider}/${model}`,
          price: priceOf({ ...config, model }),
        }));
      },
    };
  }

  /** A key of the environment is only sent to the provider's own address. */
  async #keyFor(config: ModelConfig): Promise<string | undefined> {
    const known = await this.#keys.get(config);
    if (known !== undefined) return known;
    const fromEnvironment = config.baseUrl === undefined ? envKey(config, process.env) : undefined;
    if (fromEnvironment !== undefined || !needsKey(config)) return fromEnvironment;
    return this.#keys.ask(config);
  }
}

async function openEditorModel(name: string | undefined): Promise<ChatModel | undefined> {
  const models = await listEditorModels();
  const found = name === undefined ? models[0] : findEditorModel(models, name);
  return found && new EditorModel(found, editorModelName(found, models));
}
