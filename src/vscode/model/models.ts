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
import { type ModelOffer, pickModel } from './pickModel.ts';

/** Providers that offer models at an address of their own. */
const PROVIDERS = ['anthropic', 'openai', 'google'] as const;

/** The models of the settings, of the editor and of this machine. */
export class EditorModels {
  readonly #keys: Keys;
  readonly #log: Log;
  readonly #finder: ModelFinder;
  /** Problems of the settings that are in the log. */
  readonly #told = new Set<string>();

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

  /** Rejects with a message fit for the user; may ask for a key. */
  async find(name: string | undefined): Promise<ChatModel> {
    try {
      return await this.#finder.find(name);
    } catch (error) {
      // Who asks for a model whose entry is wrong should hear what is wrong with it.
      const problem =
        name && readModels(userModels()).problems.find((each) => each.includes(JSON.stringify(name)));
      throw problem ? new Error(problem, { cause: error }) : error;
    }
  }

  configured(): ReadonlyMap<string, ModelConfig> {
    const { models, problems } = readModels(userModels());
    for (const problem of problems) {
      if (!this.#told.has(problem)) this.#log.warn(problem);
      this.#told.add(problem);
    }
    return models;
  }

  /** What is known of a model without asking anybody; nothing for those of the editor and the tour. */
  configOf(name: string | undefined): ModelConfig | undefined {
    const models = this.configured();
    const wanted = name ?? defaultModel() ?? [...models.keys()][0];
    const found = wanted === undefined ? undefined : findModel(wanted, models);
    return typeof found === 'object' ? found : undefined;
  }

  /** Whether a model takes files of a type, as far as that is known without asking anybody. */
  takes(name: string | undefined, mimeType: string): boolean {
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
      editorModels: listEditorModels,
      local: () => findLocalModels({ fetch }),
      listOffered: await this.#offers(),
      current,
    });
  }

  /** Asks for the key of a model and keeps it. False when there is none to ask for, or the user gives up. */
  async askKey(config: ModelConfig): Promise<boolean> {
    return (await this.#keys.ask(config)) !== undefined;
  }

  /** One for each provider that a key is known for. */
  async #offers(): Promise<readonly ModelOffer[]> {
    const offers = await Promise.all(PROVIDERS.map((provider) => this.#offer(provider)));
    return offers.filter((offer) => offer !== undefined);
  }

  async #offer(provider: (typeof PROVIDERS)[number]): Promise<ModelOffer | undefined> {
    const config: ModelConfig = { name: provider, provider, model: '' };
    const key = (await this.#keys.get(config)) ?? envKey(config, process.env);
    if (key === undefined) return undefined;
    return {
      provider,
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

  /** The environment's key is for the provider's own address; any other address gets only what was given for it. */
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
