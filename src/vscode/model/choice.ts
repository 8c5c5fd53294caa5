import * as vscode from 'vscode';
import { field, isObject } from '../../base/json.ts';
import { factsOf } from '../../model/config/facts.ts';
import type { ModelConfig } from '../../model/config/modelConfig.ts';
import { removeModel, saveModel, type Unnamed } from '../../model/config/saveModel.ts';
import { defaultModel, userModels, writeUserSetting } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/** What the user has chosen in the model picker. */
export type ModelChoice =
  /** A name that chats and settings can use as it is. */
  | { readonly kind: 'name'; readonly name: string }
  /** A model that is not configured yet, and the name that it should get. */
  | { readonly kind: 'model'; readonly wanted: string; readonly model: Unnamed };

type Configured = ReadonlyMap<string, ModelConfig>;

/** Adds a new model to the settings, and makes it the default if there is none. Resolves to its name. */
export async function saveChoice(choice: ModelChoice, known: Configured): Promise<string> {
  const name = await nameOf(choice, known);
  // The tour answers only in chats that name it.
  if (defaultModel() === undefined && name !== 'tour') await writeUserSetting('defaultModel', name);
  return name;
}

/** Tells the user, because nothing else shows it. */
export async function saveAsDefault(choice: ModelChoice, known: Configured): Promise<void> {
  const name = await nameOf(choice, known);
  await writeUserSetting('defaultModel', name);
  void vscode.window.showInformationMessage(
    vscode.l10n.t('{0} is now the default model.', plainMessage(name)),
  );
}

async function nameOf(choice: ModelChoice, known: Configured): Promise<string> {
  if (choice.kind === 'name') return choice.name;
  const raw = userModels();
  if (raw !== undefined && !isObject(raw)) {
    throw new Error(
      vscode.l10n.t('The setting filechat.models is not an object. Fix it first, then select the model.'),
    );
  }
  const { price, ...own } = choice.model;
  // A saved price would stay when the list has a new one.
  const isListed = (await factsOf(own)).price !== undefined;
  const { name, models } = saveModel(choice.wanted, isListed ? own : choice.model, { raw, known });
  if (models) await writeUserSetting('models', models);
  return name;
}

/** Removes a model from the settings. Resolves to a function that restores it. */
export async function removeConfigured(name: string): Promise<() => Promise<void>> {
  const entry = field(userModels(), name);
  const wasDefault = defaultModel() === name;
  await writeUserSetting('models', removeModel(name, userModels()));
  if (wasDefault) await writeUserSetting('defaultModel', undefined);
  return async () => {
    await writeUserSetting('models', { ...removeModel(name, userModels()), [name]: entry });
    if (wasDefault && defaultModel() === undefined) await writeUserSetting('defaultModel', name);
  };
}
