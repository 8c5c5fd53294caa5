import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { type LearnedLimit, ModelLimits } from '../../model/config/knownLimits.ts';
import type { Log } from '../../ports/document.ts';
import type { RequestFeature } from '../../ports/models.ts';
import { sendImages } from '../settings.ts';
import { readFields, readString } from '../ui/commandArguments.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const STORAGE_KEY = 'modelLimits';

export function editorLimits(memory: vscode.Memento, log: Log): ModelLimits {
  return new ModelLimits({
    store: {
      read: () => memory.get(STORAGE_KEY),
      write: (value) =>
        memory.update(STORAGE_KEY, value).then(undefined, (error: unknown) => log.warn(messageOf(error))),
    },
    onLearned: (limit) => void tellOf(limit),
    alwaysTriesImages: () => sendImages() === 'always',
  });
}

async function tellOf({ model, feature, reason, isOnce }: LearnedLimit): Promise<void> {
  if (isOnce) {
    const again = vscode.l10n.t(
      'The provider of {0} refused an image. The request was sent again with a one-line description of each image that was left out.',
      plainMessage(model),
    );
    await vscode.window.showWarningMessage(
      vscode.l10n.t('{0} The provider said: {1}', again, plainMessage(reason)),
    );
    return;
  }
  const forget = vscode.l10n.t('Forget');
  const consequence = CONSEQUENCES[feature](plainMessage(model));
  const message = vscode.l10n.t('{0} The provider said: {1}', consequence, plainMessage(reason));
  if ((await vscode.window.showInformationMessage(message, forget)) === forget)
    await vscode.commands.executeCommand('filechat.forgetModelLimits', { model });
}

const CONSEQUENCES: Readonly<Record<RequestFeature, (model: string) => string>> = {
  images: (model) =>
    vscode.l10n.t('{0} does not accept images. From now on it gets a one-line description of each.', model),
  documents: (model) =>
    vscode.l10n.t(
      '{0} does not accept PDFs or audio. From now on it gets the text of a PDF, and a one-line description of audio.',
      model,
    ),
  tools: (model) =>
    vscode.l10n.t('{0} does not accept tools. From now on requests are sent without them.', model),
  system: (model) =>
    vscode.l10n.t(
      '{0} does not accept a system prompt. From now on it is put before the first message.',
      model,
    ),
  temperature: (model) =>
    vscode.l10n.t('{0} does not accept a temperature. From now on requests are sent without it.', model),
  streaming: (model) =>
    vscode.l10n.t('{0} does not stream its replies. From now on each reply is requested as a whole.', model),
};

const FEATURES: Readonly<Record<RequestFeature, string>> = {
  images: vscode.l10n.t('images'),
  documents: vscode.l10n.t('PDFs and audio'),
  tools: vscode.l10n.t('tools'),
  system: vscode.l10n.t('system prompt'),
  temperature: vscode.l10n.t('temperature'),
  streaming: vscode.l10n.t('streaming'),
};

/** Without a model in the argument, asks for which of them. */
export async function forgetLimits(limits: ModelLimits, argument: unknown): Promise<void> {
  const named = readString(readFields(argument), 'model');
  const names = named === undefined ? await pickNames(limits) : [named];
  if (names === undefined || names.length === 0) return;
  await limits.forget(names);
  const shown = plainMessage(names.join(', '));
  void vscode.window.showInformationMessage(
    vscode.l10n.t('The limits of {0} were forgotten. The next request includes everything again.', shown),
  );
}

async function pickNames(limits: ModelLimits): Promise<readonly string[] | undefined> {
  const items = [...limits.list()].map(([name, features]) => ({
    label: plainMessage(name),
    description: features.map((feature) => FEATURES[feature]).join(', '),
    picked: true,
    name,
  }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('No model has refused images, tools or anything else so far.'),
    );
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: vscode.l10n.t('Filechat: Forget Model Limits'),
    placeHolder: vscode.l10n.t('Which models should get complete requests again?'),
  });
  return picked?.map(({ name }) => name);
}
