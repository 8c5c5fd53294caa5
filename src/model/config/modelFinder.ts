import type { ChatModel } from '../../ports/models.ts';
import { RunError } from '../describeFailure.ts';
import { factsOf } from './facts.ts';
import { needsKey } from './keys.ts';
import type { ModelLimits } from './knownLimits.ts';
import { fallbackModel, findModel, type ModelConfig } from './modelConfig.ts';

interface ModelSources {
  readonly models: () => ReadonlyMap<string, ModelConfig>;
  readonly defaultModel: () => string | undefined;
  /** May ask the user. */
  readonly keyFor: (config: ModelConfig) => Promise<string | undefined>;
  /** Tells the user how to set a missing key. */
  readonly keyHint: (config: ModelConfig) => string;
  /** Tells the user how to name a model. */
  readonly nameHint: string;
  readonly limits: ModelLimits;
  /** VS Code's model of that name, or without a name its only one. */
  readonly editorModel?: ((name: string | undefined) => Promise<ChatModel | undefined>) | undefined;
}

/** Finds the model that a chat names, or the default. */
export class ModelFinder {
  readonly #sources: ModelSources;

  constructor(sources: ModelSources) {
    this.#sources = sources;
  }

  /** Rejects with a message for the user. */
  async find(name: string | undefined): Promise<ChatModel> {
    const models = this.#sources.models();
    const wanted = name ?? fallbackModel(models, this.#sources.defaultModel());
    if (wanted === undefined) return this.#findOnly(models);
    const config = findModel(wanted, models);
    if (typeof config === 'string') throw new RunError({ kind: 'model', name: wanted, reason: config });
    return this.#open(config);
  }

  async #findOnly(models: ReadonlyMap<string, ModelConfig>): Promise<ChatModel> {
    const only = models.size === 0 ? await this.#sources.editorModel?.(undefined) : undefined;
    if (only) {
      // The same configuration as if the chat had named it.
      const model = only.name.replace(/^vscode\//, '');
      return this.#limit(only, { name: only.name, provider: 'vscode', model });
    }
    const names = [...models.keys()].map((each) => `“${each}”`).join(', ');
    const configured = names === '' ? '' : ` Configured models: ${names}.`;
    const reason = `The chat names no model, and there is no default model. ${this.#sources.nameHint}${configured}`;
    throw new RunError({ kind: 'model', reason });
  }

  async #open(config: ModelConfig): Promise<ChatModel> {
    if (config.provider === 'tour') {
      const { createTourModel } = await import('../tour.ts');
      return createTourModel();
    }
    if (config.provider === 'vscode') return this.#openEditorModel(config);
    const key = await this.#sources.keyFor(config);
    if (key === undefined && needsKey(config)) {
      const reason = `There is no key for the model “${config.name}”. ${this.#sources.keyHint(config)}`;
      throw new RunError({ kind: 'key', name: config.name, reason });
    }
    const { createSdkModel } = await import('../providers/sdkModel.ts');
    return this.#limit(createSdkModel(config, { key, facts: await factsOf(config) }), config);
  }

  async #limit(model: ChatModel, config: ModelConfig): Promise<ChatModel> {
    const { limitModel } = await import('../providers/refusals.ts');
    return limitModel(model, this.#sources.limits.of(config));
  }

  async #openEditorModel(config: ModelConfig): Promise<ChatModel> {
    const { name, model } = config;
    const found = await this.#sources.editorModel?.(model);
    if (found) return this.#limit(found, config);
    const reason = this.#sources.editorModel
      ? `VS Code offers no model “${model}” now. Sign in to its provider, or use “Filechat: Select Model”.`
      : `The model “${name}” is only available in VS Code.`;
    throw new RunError({ kind: 'model', name, reason });
  }
}
