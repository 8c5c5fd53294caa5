import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { factsOf, type ModelFacts } from '../../model/config/facts.ts';
import { ABILITIES, type Ability, type ModelConfig } from '../../model/config/modelConfig.ts';
import type { LocalServer, Preset } from '../../model/config/presets.ts';
import { describeCount } from '../../model/config/prices.ts';
import type { ListedModel } from '../../model/config/readListing.ts';
import { isSameModel, type Unnamed } from '../../model/config/saveModel.ts';
import { isSdkProvider } from '../../model/providers/wire.ts';
import type { ModelPrice } from '../../ports/models.ts';
import { type Row, type RowButton, titledRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { ModelChoice } from './choice.ts';
import { editorModelName } from './editorModel.ts';
import { addressOf, type KeyOwner } from './keyBox.ts';
import type { ModelSources, PresetState } from './sources.ts';

/** What a row or a button of the first page leads to. */
export type FirstChoice =
  | ModelChoice
  | { readonly kind: 'preset'; readonly state: PresetState }
  | { readonly kind: 'address' }
  | { readonly kind: 'setDefault'; readonly choice: ModelChoice }
  | { readonly kind: 'removeModel'; readonly name: string }
  | { readonly kind: 'replaceKey' | 'removeKey'; readonly owner: KeyOwner };

type FirstRow = Row<FirstChoice>;

interface FirstPage {
  readonly sources: ModelSources;
  readonly defaultModel: string | undefined;
  /** Whether the tour can be chosen, which is a choice for one chat. */
  readonly offersTour: boolean;
}

/** The lists of the first page, in their order. */
export function firstPageLists(page: FirstPage): readonly Promise<readonly FirstRow[]>[] {
  const { editor, local, configured, presets } = page.sources;
  return [
    list('VS Code', async () => (await editor).map((model, _, all) => editorRow(model, all, page))),
    ...local.map(async (found) => {
      const { server, models } = await found;
      const rows = models.map((listed) => localModel(server, listed)).filter(isNotIn(configured));
      return titledRows(
        vscode.l10n.t('On This Machine: {0}', server.label),
        rows.map((model) => localRow(server, model)),
      );
    }),
    list(vscode.l10n.t('Configured'), () =>
      Promise.all(configured.map((model) => configuredRow(model, page))),
    ),
    list(vscode.l10n.t('With an API Key'), async () => [...(await presets).map(presetRow), OTHER_ADDRESS]),
    list(vscode.l10n.t('Without a Model'), async () => (page.offersTour ? [TOUR] : [])),
  ];
}

/** A failure becomes a row. */
async function list(title: string, rows: () => Promise<readonly FirstRow[]>): Promise<readonly FirstRow[]> {
  return titledRows(title, await rows().catch((error: unknown) => [noteRow(messageOf(error))]));
}

const OTHER_ADDRESS: FirstRow = {
  label: vscode.l10n.t('Other OpenAI-Compatible Address…'),
  description: vscode.l10n.t('a gateway, or a server of your own'),
  value: { kind: 'address' },
};

const TOUR: FirstRow = {
  label: 'tour',
  description: vscode.l10n.t('A script, not a model: it shows what a chat can do, without a key'),
  value: { kind: 'name', name: 'tour' },
};

function editorRow(
  model: vscode.LanguageModelChat,
  among: readonly vscode.LanguageModelChat[],
  { defaultModel }: FirstPage,
): FirstRow {
  const name = editorModelName(model, among);
  const choice: ModelChoice = { kind: 'name', name };
  const about = [model.name, model.vendor, ...describeContext(model.maxInputTokens)];
  return modelRow({ label: name, about, choice, isDefault: name === defaultModel });
}

/** A choice of a model that is not configured. */
type NewModel = Extract<ModelChoice, { kind: 'model' }>;

export function localModel({ id, baseUrl }: LocalServer, { model }: ListedModel): NewModel {
  return {
    kind: 'model',
    wanted: `${id}/${model}`,
    model: { provider: 'openai-compatible', model, baseUrl },
  };
}

function isNotIn(configured: readonly ModelConfig[]): (choice: NewModel) => boolean {
  return ({ model }) => !configured.some((each) => isSameModel(each, model));
}

function localRow({ baseUrl }: LocalServer, choice: NewModel): FirstRow {
  return modelRow({ label: choice.model.model, about: [new URL(baseUrl).host], choice });
}

async function configuredRow(config: ModelConfig, { defaultModel }: FirstPage): Promise<FirstRow> {
  const { name, provider, model, baseUrl } = config;
  const source = baseUrl === undefined ? provider : new URL(baseUrl).host;
  const facts = describeFacts(await factsOf(config));
  const about = [source, ...(name.endsWith(model) ? [] : [model]), ...facts];
  const row = modelRow({
    label: name,
    about,
    choice: { kind: 'name', name },
    isDefault: name === defaultModel,
  });
  const { buttons = [] } = row;
  const owner = isSdkProvider(provider) ? [keyButton({ ...config, label: name })] : [];
  return { ...row, buttons: [...buttons, ...owner, removeButton({ kind: 'removeModel', name })] };
}

function presetRow(state: PresetState): FirstRow {
  const { preset, endpoint, key } = state;
  const owner = ownerOf(preset, endpoint);
  const keyState = {
    stored: vscode.l10n.t('key saved'),
    environment: vscode.l10n.t('key from the environment'),
  };
  const about = [
    ...(preset.models === undefined ? [] : [preset.models]),
    ...(key === undefined ? [] : [keyState[key]]),
    ...(endpoint.baseUrl === preset.baseUrl ? [] : [addressOf(endpoint)]),
  ];
  const buttons =
    key === 'stored' ? [keyButton(owner), removeButton({ kind: 'removeKey', owner }, REMOVE_KEY)] : [];
  return {
    label: preset.label,
    description: about.join(' · '),
    buttons,
    value: { kind: 'preset', state },
  };
}

export function ownerOf(preset: Preset, endpoint: PresetState['endpoint']): KeyOwner {
  return { ...endpoint, label: preset.label, preset };
}

interface ModelRow {
  readonly label: string;
  readonly about: readonly string[];
  readonly choice: ModelChoice;
  readonly isDefault?: boolean;
}

function modelRow({ label, about, choice, isDefault = false }: ModelRow): FirstRow {
  return {
    label: plainMessage(label),
    description: plainMessage([...about, ...(isDefault ? [DEFAULT] : [])].join(' · ')),
    buttons: isDefault ? [] : [defaultButton({ kind: 'setDefault', choice })],
    value: choice,
  };
}

const DEFAULT = vscode.l10n.t('default');
const REMOVE_KEY = vscode.l10n.t('Remove Key');

export function defaultButton<T>(value: T): RowButton<T> {
  return {
    iconPath: new vscode.ThemeIcon('star-empty'),
    tooltip: vscode.l10n.t('Set as Default'),
    value,
  };
}

function keyButton(owner: KeyOwner): RowButton<FirstChoice> {
  return {
    iconPath: new vscode.ThemeIcon('key'),
    tooltip: vscode.l10n.t('Replace Key'),
    value: { kind: 'replaceKey', owner },
  };
}

function removeButton(value: FirstChoice, tooltip = vscode.l10n.t('Remove')): RowButton<FirstChoice> {
  return { iconPath: new vscode.ThemeIcon('trash'), tooltip, value };
}

/** Shown regardless of the filter. */
export function noteRow<T>(message: string): Row<T> {
  return { label: `$(warning) ${plainMessage(message)}`, alwaysShow: true };
}

/** The facts about a model that its provider or the data set has. */
export async function describeListed(listed: ListedModel, model: Unnamed): Promise<string> {
  const known = await factsOf(model);
  const abilities = Object.fromEntries(listed.abilities.map((each) => [each, true]));
  const facts = { ...known, ...listed, abilities: { ...known.abilities, ...abilities } };
  const about = [...(listed.title === undefined ? [] : [listed.title]), ...describeFacts(facts)];
  return plainMessage(about.join(' · '));
}

function describeFacts({ contextTokens = 0, price, abilities }: ModelFacts): readonly string[] {
  const known = ABILITIES.filter((each) => abilities[each]).map((each) => ABILITY_NAMES[each]);
  return [
    ...describeContext(contextTokens),
    ...describePrice(price),
    ...(known.length > 0 ? [known.join(', ')] : []),
  ];
}

const ABILITY_NAMES: Readonly<Record<Ability, string>> = {
  images: vscode.l10n.t('images'),
  documents: vscode.l10n.t('documents'),
  audio: vscode.l10n.t('audio'),
  tools: vscode.l10n.t('tools'),
  reasoning: vscode.l10n.t('reasoning'),
};

function describeContext(tokens: number): readonly string[] {
  return tokens > 0 ? [vscode.l10n.t('{0} context', describeCount(tokens).replace('.0', ''))] : [];
}

function describePrice(price: ModelPrice | undefined): readonly string[] {
  if (!price) return [];
  return [vscode.l10n.t('{0} in, {1} out per million tokens', `$${price.input}`, `$${price.output}`)];
}
