import { createHash } from 'node:crypto';
import { isObject } from '../../base/json.ts';
import type { RequestFeature } from '../../ports/models.ts';
import type { ModelConfig } from './modelConfig.ts';

/** Where the limits are kept between runs. */
export interface LimitStore {
  read(): unknown;
  /** Handles its own failures: the limits are then kept in memory. */
  write(value: object): PromiseLike<void>;
}

export interface LearnedLimit {
  /** The name of the model. */
  readonly model: string;
  readonly feature: RequestFeature;
  /** The provider's words. */
  readonly reason: string;
  /** It concerns an image of one request, and is not remembered. */
  readonly isOnce?: boolean;
}

/** The limits of one model. */
export interface KnownLimits {
  known(): ReadonlySet<RequestFeature>;
  learn(feature: RequestFeature, reason: string): Promise<void>;
  /** A request was accepted only without its images, because of one of them. */
  leftOutImages?(reason: string): void;
}

interface ModelLimitsDeps {
  readonly store: LimitStore;
  /** Tells the user. Called once for each model and feature. */
  readonly onLearned: (limit: LearnedLimit) => void;
  /** Whether images are sent to models that have refused them before. */
  readonly alwaysTriesImages: () => boolean;
}

interface SavedLimits {
  /** A fingerprint. Limits are valid until the settings of the model change. */
  readonly settings: string;
  readonly features: readonly RequestFeature[];
}

/** Remembers the features that models have refused. */
export class ModelLimits {
  readonly #deps: ModelLimitsDeps;
  readonly #told = new Set<string>();

  constructor(deps: ModelLimitsDeps) {
    this.#deps = deps;
  }

  of(config: ModelConfig): KnownLimits {
    return {
      known: () => this.#known(config),
      learn: (feature, reason) => this.#learn(config, feature, reason),
      leftOutImages: (reason) =>
        this.#deps.onLearned({ model: config.name, feature: 'images', reason, isOnce: true }),
    };
  }

  /** The names of the models with limits, and what they refuse. */
  list(): ReadonlyMap<string, readonly RequestFeature[]> {
    return new Map([...this.#read()].map(([name, { features }]) => [name, features]));
  }

  async forget(names: Iterable<string>): Promise<void> {
    const all = this.#read();
    for (const name of names) all.delete(name);
    this.#told.clear();
    await this.#deps.store.write(Object.fromEntries(all));
  }

  #known(config: ModelConfig): ReadonlySet<RequestFeature> {
    const features = new Set(this.#saved(config));
    if (this.#deps.alwaysTriesImages()) features.delete('images');
    return features;
  }

  #saved(config: ModelConfig): readonly RequestFeature[] {
    const saved = this.#read().get(config.name);
    return saved?.settings === fingerprint(config) ? saved.features : [];
  }

  async #learn(config: ModelConfig, feature: RequestFeature, reason: string): Promise<void> {
    const { name: model } = config;
    const before = this.#saved(config);
    const features = [...new Set([...before, feature])];
    if (features.length > before.length) {
      const saved: SavedLimits = { settings: fingerprint(config), features };
      await this.#deps.store.write(Object.fromEntries(this.#read().set(model, saved)));
    }
    const key = JSON.stringify([model, feature]);
    if (!this.#told.has(key)) this.#deps.onLearned({ model, feature, reason });
    this.#told.add(key);
  }

  #read(): Map<string, SavedLimits> {
    const value = this.#deps.store.read();
    const entries = isObject(value) ? Object.entries(value) : [];
    return new Map(entries.flatMap(([name, saved]) => (isSaved(saved) ? [[name, saved] as const] : [])));
  }
}

function isSaved(value: unknown): value is SavedLimits {
  if (!isObject(value) || typeof value['settings'] !== 'string') return false;
  const features: unknown = value['features'];
  return Array.isArray(features) && features.every((each) => FEATURES.has(each));
}

const FEATURES: ReadonlySet<unknown> = new Set<RequestFeature>([
  'images',
  'documents',
  'tools',
  'system',
  'temperature',
  'streaming',
]);

function fingerprint(config: ModelConfig): string {
  return createHash('sha256').update(JSON.stringify(config)).digest('base64url');
}
