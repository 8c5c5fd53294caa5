import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { actionsFor, billingPage, describeFailure, type FailureAction } from '../../model/describeFailure.ts';
import { isModelFailure } from '../../model/providers/retry.ts';
import type { RunOutcome } from '../../ports/document.ts';
import type { Failure, FailureKind } from '../../ports/failures.ts';
import { localSentence } from './coreSentences.ts';
import { t } from './words.ts';

/** Where something failed, and how to do it again. */
export interface FailurePlace {
  readonly uri: vscode.Uri;
  /** By default, the chat is run. */
  readonly again?: vscode.Command | undefined;
  readonly resumable?: boolean | undefined;
}

interface FailureButton extends vscode.Command {
  readonly action: FailureAction | 'resume';
  readonly icon: string;
}

/** The whole sentence in the user's language. */
export function explainOutcome({ failure, error }: Pick<RunOutcome, 'failure' | 'error'>): string {
  if (!failure) return error === undefined ? vscode.l10n.t('The command failed.') : localSentence(error);
  const { host, reason } = failure;
  // Without a host, the reason is a sentence of the core.
  const isOurs = host === undefined && reason !== undefined;
  return describeFailure(isOurs ? { ...failure, reason: localSentence(reason) } : failure, t);
}

/** The same for the error of a request. */
export function explainError(error: unknown): string {
  const failure = isModelFailure(error) ? error.failure : undefined;
  return explainOutcome({ failure, error: messageOf(error) });
}

/** The same buttons for the notification and for the lenses. */
export function buttonsFor(failure: Failure, place: FailurePlace): readonly FailureButton[] {
  return actionsFor(failure).map((action) => {
    if (action === 'tryAgain') return againButton(place);
    const [icon, title, command, argument] = BUTTONS[action];
    return { action, icon, title, command, arguments: [argument(failure, place)] };
  });
}

type Button = readonly [
  icon: string,
  title: string,
  command: string,
  argument: (failure: Failure, place: FailurePlace) => unknown,
];

const ofChat: Button[3] = (_, { uri }) => ({ uri });
const ofServer: Button[3] = ({ server }) => ({ server });

const BUTTONS: Readonly<Record<Exclude<FailureAction, 'tryAgain'>, Button>> = {
  setKey: [
    'key',
    vscode.l10n.t('Set API Key…'),
    'filechat.setApiKey',
    ({ name }, { uri }) => (name === undefined ? { uri } : { model: name, uri }),
  ],
  selectModel: ['hubot', vscode.l10n.t('Select Model…'), 'filechat.selectModel', ofChat],
  openBilling: [
    'link-external',
    vscode.l10n.t('Open Billing Page'),
    'vscode.open',
    (failure) => vscode.Uri.parse(billingPage(failure) ?? '', true),
  ],
  compact: ['fold', vscode.l10n.t('Compact'), 'filechat.compact', ofChat],
  showBreakdown: ['list-tree', vscode.l10n.t('Show What Will Be Sent'), 'filechat.showBreakdown', ofChat],
  openModelSettings: [
    'gear',
    vscode.l10n.t('Open Settings'),
    'workbench.action.openSettings',
    () => 'filechat.models',
  ],
  restartServer: ['debug-restart', vscode.l10n.t('Restart Server'), 'filechat.restartServer', ofServer],
  showServerLog: ['output', vscode.l10n.t('Show Log'), 'filechat.showServerLog', ofServer],
  editServer: ['edit', vscode.l10n.t('Edit Server'), 'filechat.editServer', ofServer],
};

function againButton({ uri, again, resumable }: FailurePlace): FailureButton {
  if (resumable) {
    return {
      action: 'resume',
      icon: 'debug-continue',
      title: vscode.l10n.t('Resume'),
      command: 'filechat.resume',
      arguments: [{ uri }],
    };
  }
  const { command, arguments: args } = again ?? { command: 'filechat.run', arguments: [{ uri }] };
  const title = vscode.l10n.t('Try Again');
  return { action: 'tryAgain', icon: 'refresh', title, command, ...(args && { arguments: args }) };
}

/** A few words for a lens. */
export function summarize({ kind, server = '', status }: Failure): string {
  if (kind === 'server') return vscode.l10n.t('Server {0} failed', server);
  return kind === 'format' && status === 404 ? vscode.l10n.t('Address not found') : SUMMARIES[kind];
}

const SUMMARIES: Readonly<Record<Exclude<FailureKind, 'server'>, string>> = {
  key: vscode.l10n.t('API key not accepted'),
  access: vscode.l10n.t('Access denied'),
  model: vscode.l10n.t('Model not found'),
  rateLimit: vscode.l10n.t('Rate limit reached'),
  overloaded: vscode.l10n.t('Provider overloaded'),
  credit: vscode.l10n.t('No credit left'),
  unreachable: vscode.l10n.t('No connection'),
  certificate: vscode.l10n.t('Certificate not trusted'),
  lost: vscode.l10n.t('Connection lost'),
  tooLong: vscode.l10n.t('Chat too long'),
  format: vscode.l10n.t('Unknown response format'),
  failed: vscode.l10n.t('Provider error'),
  refused: vscode.l10n.t('Request refused'),
};
