import * as vscode from 'vscode';
import { setFrontMatter } from '../../chat/format/frontMatter.ts';
import { factsOf, isRefused, type ModelFacts } from '../../model/config/facts.ts';
import { needsKey } from '../../model/config/keys.ts';
import type { ModelLimits } from '../../model/config/knownLimits.ts';
import { fallbackModel, findModel, type ModelConfig, readModels } from '../../model/config/modelConfig.ts';
import { ModelFinder } from '../../model/config/modelFinder.ts';
import { PRESETS, presetEndpoint } from '../../model/config/presets.ts';
import { featureOfFile } from '../../model/providers/refusals.ts';
import { isSdkProvider, wireOf } from '../../model/providers/wire.ts';
import type { Log } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';
import { editDocument } from '../chat/editorDocument.ts';
import { defaultModel, userModels } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { saveChoice } from './choice.ts';
import { editorLimits } from './editorLimits.ts';
import { EditorModel, editorModelName, findEditorModel, listEditorModels } from './editorModel.ts';
import type { FlowOptions } from './flow.ts';
import type { KeyOwner } from './keyBox.ts';
import { Keys } from './keys.ts';

export class EditorModels {
  readonly keys: Keys;
  readonly limits: ModelLimits;
  readonly #log: Log;
  readonly #finder: ModelFinder;
  readonly #loggedProblems = new Set<string>();

  constructor({ secrets, globalState }: Pick<vscode.ExtensionContext, 'secrets' | 'globalState'>, log: Log) {
    this.keys = new Keys(secrets);
    this.limits = editorLimits(globalState, log);
    this.#log = log;
    this.#finder = new ModelFinder({
      models: () => this.configured(),
      defaultModel,
      keyFor: (config) => this.keys.find(config),
      nameHint: 'Use “Filechat: Select Model…”.',
      keyHint: () => 'Use “Filechat: Set API Key…”.',
      limits: this.limits,
      editorModel: openEditorModel,
    });
  }

  /** Rejects with a message for the user. */
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

  /**
   * Asks for what a request still needs: a model if the chat names none, or the key of its model. Resolves to false if
   * the user cancels; then nothing has changed.
   */
  async prepare(name: string | undefined, chat?: vscode.TextDocument): Promise<boolean> {
    const models = this.configured();
    const wanted = name ?? fallbackModel(models, defaultModel());
    if (wanted === undefined) {
      const hasOnly = models.size === 0 && (await openEditorModel(undefined)) !== undefined;
      return hasOnly || this.#chooseForRun(chat);
    }
    const config = findModel(wanted, models);
    // The request reports an unknown name.
    if (typeof config === 'string' || !needsKey(config)) return true;
    if ((await this.keys.find(config)) !== undefined) return true;
    return this.askKey({ ...config, label: config.name });
  }

  /** The owner of the key of a model or provider. Undefined if it takes none or its name is unknown. */
  keyOwner(name: string): KeyOwner | undefined {
    const config = this.configOf(name);
    if (config) return isSdkProvider(config.provider) ? { ...config, label: config.name } : undefined;
    const preset = PRESETS.find(({ id }) => id === name);
    return preset && { ...presetEndpoint(preset, process.env), label: preset.label, preset };
  }

  /** Asks for a key and stores it. Resolves to false if the user cancels. */
  async askKey(owner: KeyOwner): Promise<boolean> {
    const { askKey } = await import('./keyBox.ts');
    const answer = await askKey({ owner });
    if (answer.kind !== 'answer') return false;
    await this.keys.set(owner, answer.text);
    return true;
  }

  /** Lets the user choose a model, and saves a new one in the settings. Resolves to its name. */
  async choose(question: string, { current, offersTour }: ChooseOptions): Promise<string | undefined> {
    const result = await this.#openFlow({ purpose: 'select', question, current, offersTour });
    if (!result) return undefined;
    const { choice } = result;
    // A configured model is chosen for one chat.
    const isConfigured = choice.kind === 'name' && this.configured().has(choice.name);
    return isConfigured ? choice.name : saveChoice(choice, this.configured());
  }

  async #chooseForRun(chat: vscode.TextDocument | undefined): Promise<boolean> {
    const question = vscode.l10n.t('Which model should answer?');
    const result = await this.#openFlow({ purpose: 'run', question, offersTour: chat !== undefined });
    if (!result) return false;
    const name = await saveChoice(result.choice, this.configured());
    // The tour does not become the default, so the chat has to name it.
    if (name === 'tour' && chat) await editDocument(chat, (text) => setFrontMatter(text, 'model', name));
    if (result.isSuggested) void offerOtherModel(name, chat?.uri);
    return true;
  }

  async #openFlow(options: Omit<FlowOptions, 'keys' | 'configured'>) {
    const { ModelFlow } = await import('./flow.ts');
    const { keys } = this;
    return new ModelFlow({ ...options, keys, configured: () => this.configured() }).choose();
  }

  configured(): ReadonlyMap<string, ModelConfig> {
    const { models, problems } = readModels(userModels());
    for (const problem of problems) {
      if (!this.#loggedProblems.has(problem)) this.#log.warn(problem);
      this.#loggedProblems.add(problem);
    }
    return models;
  }

  /** The configuration of a model, without requests. Undefined if there is none or its name is unknown. */
  configOf(name: string | undefined): ModelConfig | undefined {
    const models = this.configured();
    const wanted = name ?? fallbackModel(models, defaultModel());
    const found = wanted === undefined ? undefined : findModel(wanted, models);
    return typeof found === 'object' ? found : undefined;
  }

  /** What can be sent to a model, as far as that is known without requests. */
  async abilitiesOf(name: string | undefined): Promise<Pick<ChatModel, 'accepts' | 'takesTools'>> {
    const config = this.configOf(name);
    if (!config) return { accepts: () => true };
    const facts = await factsOf(config);
    const refused = this.limits.of(config).known();
    const isSent = (mimeType: string) =>
      !isSdkProvider(config.provider) || (wireOf(config).files.has(mimeType) && !isRefused(mimeType, facts));
    return {
      accepts: (mimeType) => isSent(mimeType) && !refused.has(featureOfFile(mimeType)),
      takesTools: () => !refused.has('tools'),
    };
  }

  async factsOf(name: string | undefined): Promise<ModelFacts | undefined> {
    const config = this.configOf(name);
    return config && factsOf(config);
  }
}

interface ChooseOptions {
  readonly current?: string | undefined;
  readonly offersTour: boolean;
}

/** Says which model was chosen for the user. */
async function offerOtherModel(name: string, uri: vscode.Uri | undefined): Promise<void> {
  const change = vscode.l10n.t('Change Model…');
  const message = vscode.l10n.t('Using {0}. It is now the default model.', plainMessage(name));
  if ((await vscode.window.showInformationMessage(message, change)) === change)
    await vscode.commands.executeCommand('filechat.selectModel', uri && { uri });
}

/** Without a name, the only model of VS Code. */
async function openEditorModel(name: string | undefined): Promise<ChatModel | undefined> {
  const models = await listEditorModels();
  const [first, ...others] = models;
  const only = others.length === 0 ? first : undefined;
  const found = name === undefined ? only : findEditorModel(models, name);
  return found && new EditorModel(found, editorModelName(found, models));
}
