import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { keyPlace, readKey, type TypedKey } from '../../model/config/keys.ts';
import { checkKey, KeyRefused, listModels } from '../../model/config/listModels.ts';
import type { ModelConfig } from '../../model/config/modelConfig.ts';
import { PRESETS, type Preset, presetEndpoint } from '../../model/config/presets.ts';
import type { ListedModel } from '../../model/config/readListing.ts';
import { askChecked, type CheckedAnswer, type ReadText } from '../ui/checkedBox.ts';
import { explainError } from '../ui/failureActions.ts';
import type { Pages, Step } from '../ui/growingPick.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/** The owner of a key: a provider, or another address. */
export interface KeyOwner extends Pick<ModelConfig, 'provider' | 'baseUrl' | 'headers'> {
  readonly label: string;
  readonly preset?: Preset | undefined;
}

interface KeyQuestion {
  readonly owner: KeyOwner;
  readonly canGoBack?: boolean;
  /** Whether an empty box means that no key is needed. */
  readonly isOptional?: boolean;
  readonly step?: Step;
  readonly pages?: Pages;
}

/** Asks for a key and checks it by listing the models, which are the result. Empty text is not a key. */
export function askKey({
  owner,
  isOptional = false,
  ...options
}: KeyQuestion): Promise<CheckedAnswer<readonly ListedModel[]>> {
  const preset = owner.preset ?? presetAt(owner);
  const label = plainMessage(preset?.label ?? owner.label);
  return askChecked({
    ...options,
    title: vscode.l10n.t('API Key for {0}', label),
    prompt: vscode.l10n.t(
      'The key is kept in the secret storage of VS Code and sent only to {0}',
      addressOf(owner),
    ),
    placeholder: isOptional
      ? vscode.l10n.t('Paste the key, or leave this empty if the server needs none')
      : vscode.l10n.t('Paste the key'),
    password: true,
    more: keyPage(preset),
    checking: vscode.l10n.t('Checking the key…'),
    read: (typed) => readTyped(typed, isOptional),
    check: (key, signal) => listWithKey({ ...owner, preset }, key, signal),
    explain: (error, key) => explainFailure(error, label, key),
  });
}

/** The provider that an address belongs to. */
function presetAt(owner: KeyOwner): Preset | undefined {
  return PRESETS.find((preset) => keyPlace(presetEndpoint(preset, {})) === keyPlace(owner));
}

export function addressOf(owner: Pick<KeyOwner, 'provider' | 'baseUrl'>): string {
  const place = keyPlace(owner);
  return showInvisible(place.slice(place.indexOf(' ') + 1));
}

function keyPage(preset: Preset | undefined) {
  return (
    preset && {
      icon: 'link-external',
      tooltip: vscode.l10n.t('Get an API Key'),
      run: async () => {
        await openInBrowser(new URL(preset.keyPage));
        return undefined;
      },
    }
  );
}

function readTyped(typed: string, isOptional: boolean): ReadText {
  const read = readKey(typed);
  if (read.ok) return { ok: true, text: read.key };
  if (isOptional && read.problem === 'empty') return { ok: true, text: '' };
  return { ok: false, message: PROBLEMS[read.problem] };
}

const PROBLEMS: Readonly<Record<Extract<TypedKey, { ok: false }>['problem'], string>> = {
  empty: vscode.l10n.t('Paste the key, or press Escape to cancel.'),
  whitespace: vscode.l10n.t('A key contains no spaces. Paste only the key.'),
  characters: vscode.l10n.t('A key contains only letters, digits and punctuation. Copy it again.'),
};

/** Where the list of models is public, another path shows whether the key is valid. */
function listWithKey(owner: KeyOwner, key: string, signal: AbortSignal): Promise<readonly ListedModel[]> {
  return inTime(signal, async (either) => {
    const options = { key, signal: either };
    if (owner.preset?.checkPath) await checkKey(owner, owner.preset.checkPath, options);
    return listModels(owner, options);
  });
}

const TIMEOUT_MS = 15_000;

export async function inTime<T>(signal: AbortSignal, work: (either: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await work(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (!deadline.aborted) throw error;
    throw new Error(vscode.l10n.t('There was no response within {0} seconds.', TIMEOUT_MS / 1000), {
      cause: error,
    });
  }
}

/** A key that is valid but may not list models is refused with 403, so it can be used anyway. */
function explainFailure(error: unknown, label: string, key: string): { message: string; isFinal: boolean } {
  const { t } = vscode.l10n;
  if (!(error instanceof KeyRefused)) {
    const reason = plainMessage(explainError(error));
    const message = t('The key could not be checked. {0} Press Enter again to use it anyway.', reason);
    return { message, isFinal: false };
  }
  const reason = plainMessage(error.reason);
  if (key === '') {
    const message = t('{0} requires an API key', label);
    return { message: reason ? `${message}: ${reason}` : `${message}.`, isFinal: true };
  }
  if (error.status === 403) {
    const message = t('{0} refused the key: {1} Press Enter again to use it anyway.', label, reason);
    return { message, isFinal: false };
  }
  const message = t('{0} did not accept the key', label);
  return { message: reason ? `${message}: ${reason}` : `${message}.`, isFinal: true };
}
