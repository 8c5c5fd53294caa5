import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { type ListedModel, recommendModel } from '../../model/config/readListing.ts';
import { askChecked, type CheckedAnswer } from '../ui/checkedBox.ts';
import { explainError } from '../ui/failureActions.ts';
import { type Pages, pickGrowing, type Row, type Step } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { ModelChoice } from './choice.ts';
import type { KeyOwner } from './keyBox.ts';
import { defaultButton, describeListed, noteRow } from './rows.ts';

type ListedChoice =
  | { readonly kind: 'choose' | 'setDefault'; readonly listed: ListedModel }
  | { readonly kind: 'name' | 'again' | 'replaceKey' | 'back' };

interface ModelsPage {
  readonly owner: KeyOwner;
  readonly models: (signal: AbortSignal) => Promise<readonly ListedModel[]>;
  readonly step: Step;
  readonly pages: Pages;
}

/** Lists the models of an endpoint, newest first, with the recommended one active. */
export async function pickListed({
  owner,
  models,
  step,
  pages,
}: ModelsPage): Promise<ListedChoice | undefined> {
  const label = plainMessage(owner.label);
  const title = `${vscode.l10n.t('Filechat: Select Model')} · ${label}`;
  const question = vscode.l10n.t('Which model of {0} should answer?', label);
  const texts = { title, waiting: vscode.l10n.t('Listing the models…'), question, nothing: question };
  let recommended: ListedModel | undefined;
  const load = async (signal: AbortSignal): Promise<readonly Row<ListedChoice>[]> => {
    try {
      const listed = await models(signal);
      recommended = recommendModel(listed, owner.preset?.recommended);
      const rows = listed.map((each) => listedRow(each, owner, owner.preset && each === recommended));
      return [...(await Promise.all(rows)), ENTER_NAME];
    } catch (error) {
      return failureRows(error);
    }
  };
  return pickGrowing<ListedChoice>(texts, (signal) => [load(signal)], {
    isCurrent: (value) => value.kind === 'choose' && value.listed === recommended,
    back: { kind: 'back' },
    step,
    pages,
  });
}

async function listedRow(
  listed: ListedModel,
  owner: KeyOwner,
  isRecommended = false,
): Promise<Row<ListedChoice>> {
  const about = await describeListed(listed, modelOf(owner, listed).model);
  const description = [...(isRecommended ? [vscode.l10n.t('Recommended')] : []), ...(about ? [about] : [])];
  return {
    label: plainMessage(listed.model),
    description: description.join(' · '),
    buttons: [defaultButton<ListedChoice>({ kind: 'setDefault', listed })],
    value: { kind: 'choose', listed },
  };
}

function failureRows(error: unknown): readonly Row<ListedChoice>[] {
  return [
    noteRow(explainError(error)),
    { label: vscode.l10n.t('Try Again'), value: { kind: 'again' } },
    { label: vscode.l10n.t('Replace Key…'), value: { kind: 'replaceKey' } },
    ENTER_NAME,
  ];
}

const ENTER_NAME: Row<ListedChoice> = {
  label: vscode.l10n.t('Enter a Model Name…'),
  description: vscode.l10n.t('a model that is not listed'),
  alwaysShow: true,
  value: { kind: 'name' },
};

/** Asks for the name of a model that is not listed. */
export function askModelName({ label }: KeyOwner, step: Step, pages: Pages): Promise<CheckedAnswer<unknown>> {
  return askChecked({
    title: vscode.l10n.t('Model of {0}', plainMessage(label)),
    prompt: vscode.l10n.t('The name under which the provider offers the model'),
    placeholder: vscode.l10n.t('Type the name of the model'),
    canGoBack: true,
    step,
    pages,
    checking: '',
    read: (typed) => {
      const text = typed.trim();
      return text === '' || /\p{Cc}/u.test(text) || text.length > MAX_NAME_CHARS
        ? { ok: false, message: vscode.l10n.t('Type the name of the model, or press Escape to cancel.') }
        : { ok: true, text };
    },
    check: async () => true,
    explain: (error) => ({ message: messageOf(error), isFinal: true }),
  });
}

const MAX_NAME_CHARS = 150;

/** The choice of a listed model. Its name begins with the provider or the host, so that it is unique. */
export function modelOf(
  { preset, provider, baseUrl }: KeyOwner,
  { model, price }: Pick<ListedModel, 'model' | 'price'>,
): Extract<ModelChoice, { kind: 'model' }> {
  const place = preset?.id ?? new URL(baseUrl ?? '').host;
  return {
    kind: 'model',
    wanted: `${place}/${model}`,
    model: { provider, model, ...(baseUrl === undefined ? {} : { baseUrl }), ...(price ? { price } : {}) },
  };
}
