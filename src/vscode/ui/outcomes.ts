import * as vscode from 'vscode';
import type { RunOutcome } from '../../ports/document.ts';
import { plainMessage } from './plainMessage.ts';

export const CANCELLED: RunOutcome = {
  ok: false,
  error: vscode.l10n.t('Nothing was chosen.'),
  cancelled: true,
  assets: [],
};
export const NO_CHAT = vscode.l10n.t('Open a chat first: a file whose name ends in .chat.md.');
export const UNTRUSTED = vscode.l10n.t(
  'This workspace is not trusted, so nothing is run. Trust it first: “Workspaces: Manage Workspace Trust”.',
);
export const RUNNING = vscode.l10n.t('This chat is running already. Stop it first, or wait.');
export const CHANGED = vscode.l10n.t('The chat has changed meanwhile. Nothing was removed; try again.');

const RESUME = vscode.l10n.t('Resume');

export function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

/** Shows a warning if the run failed and was not cancelled. */
export function tell(outcome: RunOutcome, chat?: vscode.Uri): RunOutcome {
  if (!outcome.ok && !outcome.cancelled && !outcome.lost) void warn(outcome, chat);
  return outcome;
}

async function warn({ error, resumable }: RunOutcome, chat: vscode.Uri | undefined): Promise<void> {
  const buttons = resumable && chat ? [RESUME] : [];
  const answer = await vscode.window.showWarningMessage(
    plainMessage(error ?? vscode.l10n.t('It failed.')),
    ...buttons,
  );
  if (answer === RESUME) await vscode.commands.executeCommand('filechat.resume', { uri: chat });
}
