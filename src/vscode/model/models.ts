import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { ModelFinder } from '../../model/config/find.ts';
import { envKey, keyPlace, needsKey } from '../../model/config/keys.ts';
import { findModel, type ModelConfig, type ModelPrice, readModels } from '../../model/config/models.ts';
import { priceOf } from '../../model/config/prices.ts';
import { isSdkProvider, wireOf } from '../../model/providers/wire.ts';
import type { Log } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';
import { defaultModel, userModels } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { EditorModel, editorModelName, findEditorModel, listEditorModels } from './editorModel.ts';
import { type ModelProvider, pickModel } from './pickModel.ts';

/** Providers with a well-known address. */
export const PROVIDERS = ['anthropic', 'openai', 'google'] as const;

export class EditorModels {
  readonly keys: Keys;
  readonly #log: Log;
  readonly #finder: ModelFinder;
  readonly #loggedProblems = new Set<string>();

  constructor(secrets: vscode.SecretStorage, log: Log) {
    this.keys = new Keys(secrets);
    this.#log = log;
    this.#finder = new ModelFinder({
      models: () => this.configured(),
      defaultModel,
      keyFor: (config) => this.#keyFor(config),
      keyHint: () => 'Use “Filechat: Set API Key…”.',
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

  async #providersWithKey(): Promise<readonly ModelProvider[]> {
    const found = await Promise.all(PROVIDERS.map((provider) => this.#provider(provider)));
    return found.filter((each) => each !== undefined);
  }

  async #provider(provider: (typeof PROVIDERS)[number]): Promise<ModelProvider | undefined> {
    const config: ModelConfig = { name: provider, provider, model: '' };
    const key = (await this.keys.get(config)) ?? envKey(config, process.env);
    if (key === undefined) return undefined;
    return {
      name: provider,
      list: async (signal) => {
        const { listModels } = await import('../../model/config/list.ts');
        const names = await listModels(config, { key, signal });
        return names.map((model) => ({ name: `${provider}/${model}`, provider, model }));
      },
    };
  }

  /** A key of the environment is only sent to the provider's own address. */
  async #keyFor(config: ModelConfig): Promise<string | undefined> {
    const known = await this.keys.get(config);
    if (known !== undefined) return known;
    const fromEnvironment = config.baseUrl === undefined ? envKey(config, process.env) : undefined;
    if (fromEnvironment !== undefined || !needsKey(config)) return fromEnvironment;
    return this.keys.ask(config);
  }
}

async function openEditorModel(name: string | undefined): Promise<ChatModel | undefined> {
  const models = await listEditorModels();
  const found = name === undefined ? models[0] : findEditorModel(models, name);
  return found && new EditorModel(found, editorModelName(found, models));
}

const PREFIX = 'key ';

/** API keys in the secret store. A key is bound to the address it was entered for, even if the model's address changes. */
export class Keys {
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  async get(config: ModelConfig): Promise<string | undefined> {
    return this.#secrets.get(PREFIX + keyPlace(config));
  }

  async set(config: ModelConfig, key: string): Promise<void> {
    await this.#secrets.store(PREFIX + keyPlace(config), key);
  }

  /** Asks for the key and stores it. Resolves to undefined if the user cancels. */
  async ask(config: ModelConfig): Promise<string | undefined> {
    const place = keyPlace(config);
    const answer = await vscode.window.showInputBox({
      title: vscode.l10n.t('API key for {0}', plainMessage(config.name)),
      prompt: vscode.l10n.t(
        'It is kept in the secret store of VS Code and sent only to {0}',
        showInvisible(address(place)),
      ),
      placeHolder: vscode.l10n.t('Paste the key'),
      password: true,
      ignoreFocusOut: true,
      validateInput: checkKey,
    });
    const key = answer?.trim();
    if (!key) return undefined;
    await this.set(config, key);
    return key;
  }
}

/** The part after the provider's name, or the name if the provider has no address. */
function address(place: string): string {
  return place.slice(place.indexOf(' ') + 1);
}

function checkKey(text: string): string | undefined {
  const key = text.trim();
  if (key === '') return vscode.l10n.t('Paste the key, or press Escape.');
  if (/\s/.test(key)) return vscode.l10n.t('A key has no white space in it. Paste only the key.');
  // The key becomes an HTTP header.
  return /[^\x21-\x7e]/.test(key)
    ? vscode.l10n.t('A key has only plain letters, digits and signs. Copy it again.')
    : undefined;
}
