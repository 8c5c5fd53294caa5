import * as vscode from 'vscode';
import type { Log, RunOutcome } from '../../ports/document.ts';
import { buttonsFor, explainOutcome, type FailurePlace } from './failureActions.ts';
import { plainMessage } from './plainMessage.ts';

export const CANCELLED: RunOutcome = {
  ok: false,
  error: vscode.l10n.t('Nothing was selected.'),
  cancelled: true,
  assets: [],
};
export const NO_CHAT = vscode.l10n.t('Open a chat first: a file whose name ends in .chat.md.');
export const UNTRUSTED = vscode.l10n.t(
  'This workspace is not trusted, so nothing is run. Trust it first: “Workspaces: Manage Workspace Trust”.',
);
export const RUNNING = vscode.l10n.t('This chat is running already. Stop it first, or wait.');
export const CHANGED = vscode.l10n.t('The chat was changed in the meantime. Nothing was removed; try again.');

export const NOTHING_PENDING = vscode.l10n.t('No pending tool calls in this chat.');

const SHOW_LOG: vscode.Command = { title: vscode.l10n.t('Show Log'), command: 'filechat.showLog' };
const REMEDIES: ReadonlyMap<string, vscode.Command> = new Map([
  [NO_CHAT, { title: vscode.l10n.t('New Chat'), command: 'filechat.newChat' }],
  [UNTRUSTED, { title: vscode.l10n.t('Manage Workspace Trust'), command: 'workbench.trust.manage' }],
  [RUNNING, { title: vscode.l10n.t('Stop'), command: 'filechat.stop' }],
]);

let log: Log | undefined;

/** Called once. Problems are logged whole, because VS Code cuts long notifications. */
export function useLog(given: Log): void {
  log = given;
}

export function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

/** Shows a warning if the run failed, unless the user cancelled it or declined its call. */
export function tell(outcome: RunOutcome, place?: FailurePlace): RunOutcome {
  if (!outcome.ok && !outcome.cancelled && !outcome.declined && !outcome.lost) void warn(outcome, place);
  return outcome;
}

/** VS Code cuts messages after 1000 characters. */
const MAX_SHOWN_CHARS = 900;

/** Shows the whole message, which VS Code does only beside a button. */
export async function warn(outcome: RunOutcome, place?: FailurePlace): Promise<void> {
  const message = explainOutcome(outcome);
  log?.warn(message);
  const buttons: readonly vscode.Command[] = [
    ...actionButtons(outcome, place),
    ...(place && !isInFront(place.uri) ? [showButton(place.uri)] : []),
  ];
  const isWhole = message.length <= MAX_SHOWN_CHARS;
  const shown = isWhole && buttons.length > 0 ? buttons : [...buttons, SHOW_LOG];
  const text = plainMessage(message, MAX_SHOWN_CHARS);
  const chosen = await vscode.window.showWarningMessage(
    place && !isInFront(place.uri) ? `${nameOf(place.uri)}: ${text}` : text,
    ...new Set(shown.map(({ title }) => title)),
  );
  const found = shown.find(({ title }) => title === chosen);
  if (found && place) await focusChat(place.uri);
  if (found) await vscode.commands.executeCommand(found.command, ...(found.arguments ?? []));
}

/** A chosen button leaves the focus in the next notification, if there is one, and typed words would be lost there. */
export async function focusChat(uri: vscode.Uri): Promise<void> {
  if (isInFront(uri)) await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
}

/** For problems of commands that have no other way out. */
export function showProblem(message: string): void {
  void warn(failed(message));
}

function actionButtons(
  { failure, resumable, error = '' }: RunOutcome,
  place: FailurePlace | undefined,
): readonly vscode.Command[] {
  if (failure && place) return buttonsFor(failure, { ...place, resumable });
  const remedy = REMEDIES.get(error);
  // Another chat may be in front when it is chosen.
  if (remedy) return [place ? { ...remedy, arguments: [{ uri: place.uri }] } : remedy];
  if (!resumable || !place) return [];
  const title = vscode.l10n.t('Resume');
  return [{ title, command: 'filechat.resume', arguments: [{ uri: place.uri }] }];
}

function showButton(uri: vscode.Uri): vscode.Command {
  return { title: vscode.l10n.t('Show Chat'), command: 'vscode.open', arguments: [uri] };
}

function isInFront(uri: vscode.Uri): boolean {
  return vscode.window.activeTextEditor?.document.uri.toString() === uri.toString();
}

function nameOf({ path }: vscode.Uri): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.chat\.md$/, '');
}
