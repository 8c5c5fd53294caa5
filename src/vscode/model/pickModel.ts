import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { ModelConfig, ModelPrice } from '../../model/config/models.ts';
import { describeCount, priceOf } from '../../model/config/prices.ts';
import { describeSeconds } from '../ui/elapsed.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { countSeconds } from '../ui/progress.ts';

import { editorModelName } from './editorModel.ts';

/** A model that a provider says it offers. */
export interface OfferedModel {
  /** As it is written into the chat: `provider/model`. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly contextTokens?: number | undefined;
  readonly price?: ModelPrice | undefined;
}

/** A provider that can be asked what it offers; `list` is called when the user wants to see it. */
export interface ModelOffer {
  readonly provider: string;
  list(signal: AbortSignal): Promise<readonly OfferedModel[]>;
}

export interface PickModelOptions {
  readonly question: string;
  readonly configured: readonly ModelConfig[];
  readonly editorModels: () => Promise<readonly vscode.LanguageModelChat[]>;
  readonly local: () => Promise<readonly ModelConfig[]>;
  /** One for each provider that has a key. */
  readonly listOffered: readonly ModelOffer[];
  /** The model that is selected now. */
  readonly current?: string | undefined;
}

/** Resolves to the name of a model, as chats and settings write it, or to nothing. */
export async function pickModel(options: PickModelOptions): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<ModelItem>();
  const list = new ModelPick(pick, options);
  pick.title = TITLE;
  pick.placeholder = options.question;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  try {
    const chosen = list.chosen();
    pick.show();
    list.fill();
    return await chosen;
  } finally {
    list.dispose();
  }
}

const TITLE = vscode.l10n.t('Filechat: Select Model');

interface ModelItem extends vscode.QuickPickItem {
  readonly model?: string;
  readonly offer?: ModelOffer;
  /** Leads somewhere else. */
  readonly command?: vscode.Command;
}

interface Section {
  readonly title: string;
  readonly items: readonly ModelItem[];
  readonly offer?: ModelOffer;
}

/** The list as it grows: sections that nobody has to wait for come first, the others take their place when they are there. */
class ModelPick {
  readonly #pick: vscode.QuickPick<ModelItem>;
  readonly #options: PickModelOptions;
  readonly #sections: Section[];
  readonly #closed = new AbortController();
  /** Says for how long providers have been asked. */
  #clock: vscode.Disposable | undefined;
  #waiting = 0;

  constructor(pick: vscode.QuickPick<ModelItem>, options: PickModelOptions) {
    this.#pick = pick;
    this.#options = options;
    this.#sections = [
      { title: vscode.l10n.t('configured'), items: options.configured.map(configItem) },
      { title: 'VS Code', items: [] },
      { title: vscode.l10n.t('on this machine'), items: [] },
      ...options.listOffered.map((offer) => ({ title: offer.provider, items: [offerItem(offer)], offer })),
      { title: vscode.l10n.t('to try things out'), items: [TOUR] },
      { title: vscode.l10n.t('more models'), items: MORE },
    ];
  }

  dispose(): void {
    this.#closed.abort();
    this.#clock?.dispose();
    this.#pick.dispose();
  }

  chosen(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#pick.onDidHide(() => resolve(undefined));
      this.#pick.onDidAccept(() => {
        const [item] = this.#pick.selectedItems;
        if (item?.offer) void this.#load(item.offer);
        else if (item?.command) {
          resolve(undefined);
          void vscode.commands.executeCommand(item.command.command, ...(item.command.arguments ?? []));
        } else if (item?.model !== undefined) resolve(item.model);
      });
    });
  }

  fill(): void {
    this.#show();
    const { editorModels, local } = this.#options;
    void this.#fillSection(1, async () => {
      const models = await editorModels();
      return models.map((model) => editorItem(model, models));
    });
    void this.#fillSection(2, async () => (await local()).map(configItem));
  }

  async #load(offer: ModelOffer): Promise<void> {
    const at = this.#sections.findIndex((section) => section.offer === offer);
    const items = await this.#fillSection(at, async () => {
      const offered = await offer.list(this.#closed.signal);
      return offered.length > 0
        ? offered.map(offeredItem)
        : [noteItem(vscode.l10n.t('{0} offers no models.', offer.provider))];
    });
    if (!this.#closed.signal.aborted) this.#pick.activeItems = items.slice(0, 1);
  }

  /** A section that cannot be filled says why. */
  async #fillSection(at: number, load: () => Promise<readonly ModelItem[]>): Promise<readonly ModelItem[]> {
    this.#waiting += 1;
    this.#pick.busy = true;
    this.#clock ??= countSeconds((seconds) => {
      if (seconds > 0) this.#pick.title = `${TITLE} · ${describeSeconds(seconds)}`;
    });
    const items = await load().catch((error: unknown) => [noteItem(messageOf(error))]);
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#stopClock();
    const section = this.#sections[at];
    if (this.#closed.signal.aborted || !section) return items;
    this.#sections[at] = { title: section.title, items };
    this.#pick.busy = this.#waiting > 0;
    this.#show();
    return items;
  }

  #stopClock(): void {
    this.#clock?.dispose();
    this.#clock = undefined;
    if (!this.#closed.signal.aborted) this.#pick.title = TITLE;
  }

  /** What the user has typed, and the row that is lit, stay. */
  #show(): void {
    const active = this.#pick.activeItems[0]?.model ?? this.#options.current;
    this.#pick.keepScrollPosition = true;
    const items = this.#sections.flatMap(({ title, items }) =>
      items.length === 0 ? [] : [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...items],
    );
    this.#pick.items = items;
    const found = items.find((item) => active !== undefined && 'model' in item && item.model === active);
    if (found) this.#pick.activeItems = [found];
  }
}

const TOUR: ModelItem = {
  label: '$(play-circle) tour',
  description: vscode.l10n.t('A script, no AI: no key, no network. It shows what Filechat can do.'),
  model: 'tour',
};

const MORE: readonly ModelItem[] = [
  {
    label: `$(key) ${vscode.l10n.t('Set an API key…')}`,
    description: vscode.l10n.t('for Anthropic, OpenAI or Google; then select again'),
    command: { title: '', command: 'filechat.setApiKey' },
  },
  {
    label: `$(gear) ${vscode.l10n.t('Configure a model…')}`,
    description: vscode.l10n.t('any address that speaks one of their languages'),
    command: { title: '', command: 'workbench.action.openSettings', arguments: ['filechat.models'] },
  },
];

function configItem(config: ModelConfig): ModelItem {
  const { name, provider, model } = config;
  const about = `${provider}/${model}` === name ? [] : [`${provider} · ${model}`];
  return item(name, [...about, ...describePrice(priceOf(config))], config.baseUrl);
}

function editorItem(model: vscode.LanguageModelChat, among: readonly vscode.LanguageModelChat[]): ModelItem {
  const context =
    model.maxInputTokens > 0 ? [vscode.l10n.t('{0} tokens', describeCount(model.maxInputTokens))] : [];
  return item(editorModelName(model, among), [model.name, model.vendor, ...context]);
}

function offeredItem({ name, title, contextTokens, price }: OfferedModel): ModelItem {
  const context =
    contextTokens === undefined ? [] : [vscode.l10n.t('{0} tokens', describeCount(contextTokens))];
  return item(name, [...(title === undefined ? [] : [title]), ...context, ...describePrice(price)]);
}

function item(name: string, about: readonly string[], detail?: string): ModelItem {
  return {
    label: plainMessage(name),
    description: plainMessage(about.join(' · ')),
    ...(detail === undefined ? {} : { detail: plainMessage(detail) }),
    model: name,
  };
}

function offerItem(offer: ModelOffer): ModelItem {
  return {
    label: `$(cloud-download) ${vscode.l10n.t('Show what {0} offers…', plainMessage(offer.provider))}`,
    offer,
  };
}

/** Always shown, whatever is typed: it is why there is nothing else. */
function noteItem(message: string): ModelItem {
  return { label: `$(warning) ${plainMessage(message)}`, alwaysShow: true };
}

function describePrice(price: ModelPrice | undefined): readonly string[] {
  if (!price) return [];
  return [vscode.l10n.t('{0} in, {1} out per million tokens', `$${price.input}`, `$${price.output}`)];
}
