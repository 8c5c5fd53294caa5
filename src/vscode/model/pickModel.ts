import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { findLocalModels } from '../../model/config/find.ts';
import type { ModelConfig, ModelPrice } from '../../model/config/models.ts';
import { describeCount, priceOf } from '../../model/config/prices.ts';
import { pickGrowing, type Row, titledRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { editorModelName, listEditorModels } from './editorModel.ts';

export interface ModelProvider {
  readonly name: string;
  list(signal: AbortSignal): Promise<readonly ModelConfig[]>;
}

interface PickModelOptions {
  readonly question: string;
  readonly configured: readonly ModelConfig[];
  /** Those with a known key. */
  readonly providers: readonly ModelProvider[];
  readonly current?: string | undefined;
}

type ModelRow = Row<string | vscode.Command>;

/** Resolves to the name of a model as written in chats and settings. */
export async function pickModel(options: PickModelOptions): Promise<string | undefined> {
  const { question, current } = options;
  const title = vscode.l10n.t('Filechat: Select Model');
  const texts = { title, waiting: question, question, nothing: question };
  const choice = await pickGrowing(texts, () => modelLists(options), { current, inOrder: true });
  if (typeof choice !== 'object') return choice;
  void vscode.commands.executeCommand(choice.command, ...(choice.arguments ?? []));
  return undefined;
}

function modelLists({ configured, providers }: PickModelOptions): readonly Promise<readonly ModelRow[]>[] {
  return [
    modelList(vscode.l10n.t('configured'), async () => configured.map(configRow)),
    modelList('VS Code', async () => {
      const models = await listEditorModels();
      return models.map((model) => editorRow(model, models));
    }),
    modelList(vscode.l10n.t('on this machine'), async () => (await findLocalModels()).map(configRow)),
    ...providers.map((provider) => modelList(provider.name, async () => [providerRow(provider)])),
    modelList(vscode.l10n.t('to try things out'), async () => [TOUR]),
    modelList(vscode.l10n.t('more models'), async () => MORE),
  ];
}

/** A failure becomes a row. */
async function modelList(title: string, list: () => Promise<readonly ModelRow[]>) {
  return titledRows(title, await list().catch((error: unknown) => [noteRow(messageOf(error))]));
}

const TOUR: ModelRow = {
  label: '$(play-circle) tour',
  description: vscode.l10n.t('A script, no AI: no key, no network. It shows what Filechat can do.'),
  value: 'tour',
};

const MORE: readonly ModelRow[] = [
  {
    label: `$(key) ${vscode.l10n.t('Set an API key…')}`,
    description: vscode.l10n.t('for Anthropic, OpenAI or Google; then select again'),
    value: { title: '', command: 'filechat.setApiKey' },
  },
  {
    label: `$(gear) ${vscode.l10n.t('Configure a model…')}`,
    description: vscode.l10n.t('any address that speaks one of their languages'),
    value: { title: '', command: 'workbench.action.openSettings', arguments: ['filechat.models'] },
  },
];

function configRow(config: ModelConfig): ModelRow {
  const { name, provider, model } = config;
  const about = `${provider}/${model}` === name ? [] : [`${provider} · ${model}`];
  return modelRow(name, [...about, ...describePrice(priceOf(config))], config.baseUrl);
}

function editorRow(model: vscode.LanguageModelChat, among: readonly vscode.LanguageModelChat[]): ModelRow {
  const context =
    model.maxInputTokens > 0 ? [vscode.l10n.t('{0} tokens', describeCount(model.maxInputTokens))] : [];
  return modelRow(editorModelName(model, among), [model.name, model.vendor, ...context]);
}

function modelRow(name: string, about: readonly string[], detail?: string): ModelRow {
  return {
    label: plainMessage(name),
    description: plainMessage(about.join(' · ')),
    ...(detail === undefined ? {} : { detail: plainMessage(detail) }),
    value: name,
  };
}

function providerRow(provider: ModelProvider): ModelRow {
  const { name } = provider;
  const list = async (signal: AbortSignal) => {
    const models = await provider.list(signal);
    return models.length > 0
      ? models.map(configRow)
      : [noteRow(vscode.l10n.t('{0} offers no models.', name))];
  };
  return {
    label: `$(cloud-download) ${vscode.l10n.t('Show what {0} offers…', plainMessage(name))}`,
    load: (signal) => modelList(name, () => list(signal)),
  };
}

/** Shown regardless of the filter. */
function noteRow(message: string): ModelRow {
  return { label: `$(warning) ${plainMessage(message)}`, alwaysShow: true };
}

function describePrice(price: ModelPrice | undefined): readonly string[] {
  if (!price) return [];
  return [vscode.l10n.t('{0} in, {1} out per million tokens', `$${price.input}`, `$${price.output}`)];
}
