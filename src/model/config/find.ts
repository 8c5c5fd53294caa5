import type { ChatModel } from '../../ports/models.ts';
import { needsKey } from './keys.ts';
import { findModel, type ModelConfig, TOUR } from './models.ts';

interface ModelSources {
  readonly models: () => ReadonlyMap<string, ModelConfig>;
  readonly defaultModel: () => string | undefined;
  /** May ask the user. */
  readonly keyFor: (config: ModelConfig) => Promise<string | undefined>;
  /** Tells the user how to set a missing key. */
  readonly keyHint: (config: ModelConfig) => string;
  /** Models that run on this machine now. */
  readonly local: () => Promise<readonly ModelConfig[]>;
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
    this.#local ??= (await this.#sources.local())[0];
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
