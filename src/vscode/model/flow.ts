import * as vscode from 'vscode';
import { wellKnownModels } from '../../model/config/facts.ts';
import { keyPlace } from '../../model/config/keys.ts';
import { findBaseUrl, listModels } from '../../model/config/listModels.ts';
import { readAddress, type TypedAddress } from '../../model/config/modelAddress.ts';
import type { ModelConfig } from '../../model/config/modelConfig.ts';
import { type ListedModel, newestFirst, recommendModel } from '../../model/config/readListing.ts';
import { defaultModel } from '../settings.ts';
import { askChecked } from '../ui/checkedBox.ts';
import { explainError } from '../ui/failureActions.ts';
import { Pages, pickGrowing, type Step } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type ModelChoice, removeConfigured, saveAsDefault } from './choice.ts';
import { askKey, inTime, type KeyOwner } from './keyBox.ts';
import type { Keys } from './keys.ts';
import { askModelName, modelOf, pickListed } from './modelsPage.ts';
import { type FirstChoice, firstPageLists, localModel, ownerOf } from './rows.ts';
import { findSources, type ModelSources, onlyLocalModels, type PresetState } from './sources.ts';

export interface FlowOptions {
  readonly keys: Keys;
  readonly configured: () => ReadonlyMap<string, ModelConfig>;
  /** For a run, the flow is as short as possible. */
  readonly purpose: 'run' | 'select';
  readonly question: string;
  readonly current?: string | undefined;
  readonly offersTour: boolean;
}

interface FlowResult {
  readonly choice: ModelChoice;
  /** Whether the user has chosen the provider only, or nothing. */
  readonly isSuggested: boolean;
}

/** The first page is shown again, or the user has cancelled. */
type Outcome = FlowResult | 'first' | undefined;

/** The pages of the model picker. Nothing is changed before a model is chosen. */
export class ModelFlow {
  readonly #options: FlowOptions;
  /** Keys that were entered in this flow, by their place. */
  readonly #entered = new Map<string, { readonly owner: KeyOwner; readonly key: string }>();

  readonly #pages = new Pages();

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  async choose(): Promise<FlowResult | undefined> {
    const closed = new AbortController();
    const { keys, configured, purpose } = this.#options;
    const look = () => findSources(configured(), keys, closed.signal);
    try {
      let sources = look();
      const only = purpose === 'run' ? await onlyLocalModels(sources) : undefined;
      const suggested = only && recommendModel(only.models);
      if (only && suggested) return { choice: localModel(only.server, suggested), isSuggested: true };
      for (;;) {
        const first = await this.#pickFirst(sources);
        const outcome = first && (await this.#follow(first));
        if (outcome !== 'first') return outcome;
        sources = look();
      }
    } finally {
      closed.abort();
      this.#pages.dispose();
    }
  }

  #pickFirst(sources: ModelSources): Promise<FirstChoice | undefined> {
    const { question, current, offersTour } = this.#options;
    const texts = {
      title: vscode.l10n.t('Filechat: Select Model'),
      waiting: question,
      question,
      nothing: question,
    };
    const lists = firstPageLists({ sources, defaultModel: defaultModel(), offersTour });
    return pickGrowing(texts, () => lists, {
      inOrder: true,
      staysOnTop: true,
      pages: this.#pages,
      isCurrent: (value) => value.kind === 'name' && value.name === current,
    });
  }

  async #follow(first: FirstChoice): Promise<Outcome> {
    switch (first.kind) {
      case 'preset':
        return this.#followPreset(first.state);
      case 'address':
        return this.#followAddress('');
      case 'setDefault':
        await this.#setDefault(first.choice);
        return 'first';
      case 'removeModel':
        await removeModel(first.name);
        return 'first';
      case 'replaceKey':
        return this.#replaceKey(first.owner);
      case 'removeKey':
        await this.#removeKey(first.owner);
        return 'first';
      default:
        return { choice: first, isSuggested: false };
    }
  }

  async #followPreset({ preset, endpoint }: PresetState): Promise<Outcome> {
    const owner = ownerOf(preset, endpoint);
    const key = await this.#keyOf(owner);
    if (key === undefined) return this.#enterKey(owner);
    return this.#pickModel(owner, (signal) => listModels(owner, { key, signal }), { step: 2, totalSteps: 2 });
  }

  async #keyOf(owner: KeyOwner): Promise<string | undefined> {
    const { keys } = this.#options;
    const entered = this.#entered.get(keyPlace(owner))?.key;
    return entered ?? (await keys.find({ ...owner, name: owner.preset?.id ?? owner.label, model: '' }));
  }

  /** For a run, the recommended model is used as soon as the key is accepted. */
  async #enterKey(owner: KeyOwner): Promise<Outcome> {
    const isRun = this.#options.purpose === 'run';
    const step2 = { step: 2, totalSteps: isRun ? 2 : 3 };
    const answer = await askKey({ owner, canGoBack: true, step: step2, pages: this.#pages });
    if (answer.kind !== 'answer') return answer.kind === 'back' ? 'first' : undefined;
    this.#entered.set(keyPlace(owner), { owner, key: answer.text });
    const models = answer.result ?? (await wellKnownOf(owner));
    const recommended = isRun ? recommendModel(models, owner.preset?.recommended) : undefined;
    if (recommended) return this.#finish(owner, modelOf(owner, recommended), true);
    const step = { step: 3, totalSteps: 3 };
    return models.length > 0
      ? this.#pickModel(owner, async () => models, step)
      : this.#enterName(owner, step, async () => 'first');
  }

  async #pickModel(owner: KeyOwner, models: ListModels, step: Step): Promise<Outcome> {
    for (;;) {
      const picked = await pickListed({ owner, models, step, pages: this.#pages });
      switch (picked?.kind) {
        case 'choose':
          return this.#finish(owner, modelOf(owner, picked.listed), false);
        case 'setDefault':
          await this.#finish(owner, modelOf(owner, picked.listed), false);
          await this.#setDefault(modelOf(owner, picked.listed));
          return 'first';
        case 'replaceKey':
          return this.#enterKey(owner);
        case 'name':
          return this.#enterName(owner, step, () => this.#pickModel(owner, models, step));
        case 'again':
          continue;
        default:
          return picked && 'first';
      }
    }
  }

  async #enterName(owner: KeyOwner, step: Step, goBack: () => Promise<Outcome>): Promise<Outcome> {
    const answer = await askModelName(owner, step, this.#pages);
    if (answer.kind === 'back') return goBack();
    if (answer.kind === 'cancel') return undefined;
    return this.#finish(owner, modelOf(owner, { model: answer.text }), false);
  }

  async #followAddress(typed: string): Promise<Outcome> {
    const address = await askAddress(typed, this.#pages);
    if (address.kind !== 'answer') return address.kind === 'back' ? 'first' : undefined;
    const baseUrl = address.result ?? address.text;
    const owner: KeyOwner = { label: new URL(baseUrl).host, provider: 'openai-compatible', baseUrl };
    const answer = await askKey({
      owner,
      isOptional: true,
      canGoBack: true,
      step: { step: 3, totalSteps: 4 },
      pages: this.#pages,
    });
    if (answer.kind === 'back') return this.#followAddress(address.text);
    if (answer.kind === 'cancel') return undefined;
    this.#entered.set(keyPlace(owner), { owner, key: answer.text });
    const models = answer.result ?? [];
    const step = { step: 4, totalSteps: 4 };
    return models.length > 0
      ? this.#pickModel(owner, async () => models, step)
      : this.#enterName(owner, step, () => this.#followAddress(address.text));
  }

  /** Stores the key that was entered for the chosen model. */
  async #finish(owner: KeyOwner, choice: ModelChoice, isSuggested: boolean): Promise<FlowResult> {
    const entered = this.#entered.get(keyPlace(owner));
    if (entered) await this.#options.keys.set(entered.owner, entered.key);
    return { choice, isSuggested };
  }

  #setDefault(choice: ModelChoice): Promise<void> {
    return saveAsDefault(choice, this.#options.configured());
  }

  async #replaceKey(owner: KeyOwner): Promise<Outcome> {
    const answer = await askKey({ owner, canGoBack: true, pages: this.#pages });
    if (answer.kind === 'cancel') return undefined;
    if (answer.kind === 'answer') await this.#options.keys.set(owner, answer.text);
    return 'first';
  }

  async #removeKey(owner: KeyOwner): Promise<void> {
    const { keys } = this.#options;
    const key = await keys.get(owner);
    await keys.remove(owner);
    offerUndo(vscode.l10n.t('The key for {0} was removed.', plainMessage(owner.label)), async () => {
      if (key !== undefined) await keys.set(owner, key);
    });
  }
}

type ListModels = (signal: AbortSignal) => Promise<readonly ListedModel[]>;

/** For a provider that could not be asked for its models. */
async function wellKnownOf({ preset }: KeyOwner): Promise<readonly ListedModel[]> {
  const prefix = `${preset?.id}/`;
  const names = (await wellKnownModels()).filter((name) => name.startsWith(prefix));
  return newestFirst(names.map((name) => ({ model: name.slice(prefix.length), abilities: [] })));
}

async function removeModel(name: string): Promise<void> {
  const restore = await removeConfigured(name);
  offerUndo(vscode.l10n.t('The model {0} was removed from the settings.', plainMessage(name)), restore);
}

function offerUndo(message: string, restore: () => Promise<void>): void {
  const undo = vscode.l10n.t('Undo');
  void vscode.window.showInformationMessage(message, undo).then(async (answer) => {
    if (answer === undo) await restore();
  });
}

/** The result is the address below which the models are listed. */
function askAddress(value: string, pages: Pages) {
  return askChecked({
    title: vscode.l10n.t('Filechat: OpenAI-Compatible Address'),
    prompt: vscode.l10n.t('The address before /chat/completions, such as https://llm.example.com/v1'),
    placeholder: 'https://llm.example.com/v1',
    value,
    canGoBack: true,
    step: { step: 2, totalSteps: 4 },
    pages,
    checking: vscode.l10n.t('Checking the address…'),
    read: (typed) => {
      const address = readAddress(typed);
      return address.ok
        ? { ok: true, text: address.baseUrl }
        : { ok: false, message: ADDRESS_PROBLEMS[address.problem] };
    },
    check: (baseUrl, signal) => inTime(signal, (either) => findBaseUrl(baseUrl, { signal: either })),
    explain: (error) => ({
      message: vscode.l10n.t('{0} Press Enter again to use it anyway.', plainMessage(explainError(error))),
      isFinal: false,
    }),
  });
}

const ADDRESS_PROBLEMS: Readonly<Record<Extract<TypedAddress, { ok: false }>['problem'], string>> = {
  empty: vscode.l10n.t('Type the address, or press Escape to cancel.'),
  noUrl: vscode.l10n.t('This is not a valid address. It must look like https://llm.example.com/v1.'),
  credentials: vscode.l10n.t(
    'The address contains a user name or a password. Remove it; the key is asked for next.',
  ),
};
