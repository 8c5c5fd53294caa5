import type { ChatModel } from '../../ports/models.ts';
import { needsKey } from './keys.ts';
import { findModel, type ModelConfig } from './models.ts';

export interface ModelSources {
  readonly models: () => ReadonlyMap<string, ModelConfig>;
  readonly defaultModel: () => string | undefined;
  /** May ask the user. Nothing when there is no key. */
  readonly keyFor: (config: ModelConfig) => Promise<string | undefined>;
  /** What to do about a key that is missing. */
  readonly keyHint: (config: ModelConfig) => string;
  /** Models on this machine that answer now. */
  readonly local: () => Promise<readonly ModelConfig[]>;
  /** The editor's own model of that name, or any of them; nothing where there is no editor or no such model. */
  readonly editorModel?: ((name: string | undefined) => Promise<ChatModel | undefined>) | undefined;
}

/** Finds the model that a chat asks for, or the best there is when it asks for none. */
export class ModelFinder {
  readonly #sources: ModelSources;
  /** What a chat without a model was given: looking for one at every step of a run would be slow. */
  #found: ModelConfig | undefined;

  constructor(sources: ModelSources) {
    this.#sources = sources;
  }

  /** Rejects with a message fit for the user. */
  async find(name: string | undefined): Promise<ChatModel> {
    const { models, defaultModel } = this.#sources;
    const [first] = models().keys();
    const wanted = name ?? defaultModel() ?? first;
    if (wanted === undefined) return this.#findAny();
    const config = findModel(wanted, models());
    if (typeof config === 'string') throw new Error(config);
    return this.#open(config);
  }

  /** The editor's models, then those of this machine, then the tour, which is always there. */
  async #findAny(): Promise<ChatModel> {
    const editorModel = await this.#sources.editorModel?.(undefined);
    if (editorModel) return editorModel;
    this.#found ??= (await this.#sources.local())[0];
    return this.#open(this.#found ?? TOUR);
  }

  async #open(config: ModelConfig): Promise<ChatModel> {
    if (config.provider === 'tour') {
      const { TourModel } = await import('../tour.ts');
      return new TourModel();
    }
    if (config.provider === 'vscode') return this.#openEditorModel(config);
    const key = await this.#sources.keyFor(config);
    if (key === undefined && needsKey(config)) {
      throw new Error(`There is no key for the model “${config.name}”. ${this.#sources.keyHint(config)}`);
    }
    const { createSdkModel } = await import('../providers/sdkModel.ts');
    return createSdkModel(config, key === undefined ? {} : { key });
  }

  async #openEditorModel({ name, model }: ModelConfig): Promise<ChatModel> {
    const found = await this.#sources.editorModel?.(model);
    if (found) return found;
    throw new Error(
      this.#sources.editorModel
        ? `VS Code offers no model “${model}” now. Sign in to its provider, or use “Filechat: Select Model”.`
        : `The model “${name}” is one of VS Code's own, and there is no editor here.`,
    );
  }
}

const TOUR: ModelConfig = { name: 'tour', provider: 'tour', model: 'tour' };
