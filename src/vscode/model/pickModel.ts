import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { findLocalModels } from '../../model/config/local.ts';
import type { ModelConfig, ModelPrice } from '../../model/config/models.ts';
import { describeCount, priceOf } from '../../model/config/prices.ts';
import { describeSeconds, plainMessage } from '../ui/plainMessage.ts';
import { countSeconds } from '../ui/progress.ts';
import { editorModelName, listEditorModels } from './editorModel.ts';

interface ListedModel {
  /** `provider/model` */
  readonly name: string;
  readonly price?: ModelPrice | undefined;
}

export interface ModelProvider {
  readonly name: string;
  list(signal: AbortSignal): Promise<readonly ListedModel[]>;
}

interface PickModelOptions {
  readonly question: string;
  readonly configured: readonly ModelConfig[];
  /** Those with a known key. */
  readonly providers: readonly ModelProvider[];
  readonly current?: string | undefined;
}

/** Resolves to the name of a model as written in chats and settings. */
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
  readonly provider?: ModelProvider;
  readonly command?: vscode.Command;
}

interface Section {
  readonly title: string;
  readonly items: readonly ModelItem[];
  readonly provider?: ModelProvider;
}

/** Shows the known models at once, and each other section when its models have arrived. */
class ModelPick {
  readonly #pick: vscode.QuickPick<ModelItem>;
  readonly #options: PickModelOptions;
  readonly #sections: Section[];
  readonly #closed = new AbortController();
  /** Shows the elapsed time in the title. */
  #clock: vscode.Disposable | undefined;
  #pending = 0;

  constructor(pick: vscode.QuickPick<ModelItem>, options: PickModelOptions) {
    this.#pick = pick;
    this.#options = options;
    this.#sections = [
      { title: vscode.l10n.t('configured'), items: options.configured.map(configItem) },
      { title: 'VS Code', items: [] },
      { title: vscode.l10n.t('on this machine'), items: [] },
      ...options.providers.map((provider) => ({
        title: provider.name,
        items: [providerItem(provider)],
        provider,
      })),
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
        if (item?.provider) void this.#load(item.provider);
        else if (item?.command) {
          resolve(undefined);
          void vscode.commands.executeCommand(item.command.command, ...(item.command.arguments ?? []));
        } else if (item?.model !== undefined) resolve(item.model);
      });
    });
  }

  fill(): void {
    this.#show();
    void this.#fillSection(1, async () => {
      const models = await listEditorModels();
      return models.map((model) => editorItem(model, models));
    });
    void this.#fillSection(2, async () => (await findLocalModels({ fetch })).map(configItem));
  }

  async #load(provider: ModelProvider): Promise<void> {
    const at = this.#sections.findIndex((section) => section.provider === provider);
    const items = await this.#fillSection(at, async () => {
      const models = await provider.list(this.#closed.signal);
      return models.length > 0
        ? models.map(({ name, price }) => item(name, describePrice(price)))
        : [noteItem(vscode.l10n.t('{0} offers no models.', provider.name))];
    });
    if (!this.#closed.signal.aborted) this.#pick.activeItems = items.slice(0, 1);
  }

  async #fillSection(at: number, load: () => Promise<readonly ModelItem[]>): Promise<readonly ModelItem[]> {
    this.#pending += 1;
    this.#pick.busy = true;
    this.#clock ??= countSeconds((seconds) => {
      if (seconds > 0) this.#pick.title = `${TITLE} · ${describeSeconds(seconds)}`;
    });
    const items = await load().catch((error: unknown) => [noteItem(messageOf(error))]);
    this.#pending -= 1;
    if (this.#pending === 0) this.#stopClock();
    const section = this.#sections[at];
    if (this.#closed.signal.aborted || !section) return items;
    this.#sections[at] = { title: section.title, items };
    this.#pick.busy = this.#pending > 0;
    this.#show();
    return items;
  }

  #stopClock(): void {
    this.#clock?.dispose();
    this.#clock = undefined;
    if (!this.#closed.signal.aborted) this.#pick.title = TITLE;
  }

  /** Keeps the typed text and the active row. */
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

function item(name: string, about: readonly string[], detail?: string): ModelItem {
  return {
    label: plainMessage(name),
    description: plainMessage(about.join(' · ')),
    ...(detail === undefined ? {} : { detail: plainMessage(detail) }),
    model: name,
  };
}

function providerItem(provider: ModelProvider): ModelItem {
  return {
    label: `$(cloud-download) ${vscode.l10n.t('Show what {0} offers…', plainMessage(provider.name))}`,
    provider,
  };
}

/** Shown regardless of the filter. */
function noteItem(message: string): ModelItem {
  return { label: `$(warning) ${plainMessage(message)}`, alwaysShow: true };
}

function describePrice(price: ModelPrice | undefined): readonly string[] {
  if (!price) return [];
  return [vscode.l10n.t('{0} in, {1} out per million tokens', `$${price.input}`, `$${price.output}`)];
}
