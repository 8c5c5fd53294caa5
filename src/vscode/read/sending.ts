import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { BreakdownItem } from '../../model/request/breakdown.ts';
import type { TextEdit } from '../../ports/document.ts';

import { withChat } from '../chat/chatFiles.ts';
import { applyEdit } from '../chat/commands.ts';
import type { ModelCommands } from '../model/commands.ts';
import { failed, tell } from '../ui/outcomes.ts';
import { type BreakdownRow, breakdownRows, labelOf, tokens } from './breakdownRows.ts';
import { LinkMarks, type LinkMarksDeps } from './linkMarks.ts';

export interface SendingDeps extends LinkMarksDeps {
  readonly modelCommands: ModelCommands;
}

/** Shows the contents of the next request: at each link, and as a list of its parts. */
export class Sending implements vscode.Disposable {
  readonly #deps: SendingDeps;
  readonly #marks: LinkMarks;

  constructor(deps: SendingDeps) {
    this.#deps = deps;
    this.#marks = new LinkMarks(deps);
  }

  dispose(): void {
    this.#marks.dispose();
  }

  async showBreakdown(argument: unknown): Promise<void> {
    await withChat(argument, async (document) => {
      try {
        while (await this.#choose(document));
      } catch (error) {
        tell(failed(messageOf(error)));
      }
    });
  }

  /** Shows the list once. Returns true if something was left out and the list should be shown again. */
  async #choose(document: vscode.TextDocument): Promise<boolean> {
    const { signal } = new AbortController();
    const text = document.getText();
    const parts = await this.#deps.conversations.dryRun(document.uri).breakDown(text, signal);
    const next = await this.#deps.modelCommands.estimate(document, signal);
    const title = next?.model
      ? vscode.l10n.t('What Will Be Sent to {0}: {1}', next.model, tokens(next.tokens))
      : vscode.l10n.t('What Will Be Sent: {0}', tokens(next?.tokens ?? 0));
    const answer = await pick(title, [...breakdownRows(text, parts), SEPARATOR, wholeRequest()]);
    if (!answer) return false;
    if (answer.row.item === undefined) {
      if (answer.row.isRequest)
        await vscode.commands.executeCommand('filechat.showRequest', { uri: document.uri });
      return false;
    }
    return handle(document, text, answer.row.item, answer.leaveOut);
  }
}

async function handle(
  document: vscode.TextDocument,
  text: string,
  item: BreakdownItem,
  leaveOut: boolean,
): Promise<boolean> {
  const action = leaveOut ? item.leaveOut : await chooseAction(text, item);
  if (action === 'go') await goTo(document, item.at ?? 0);
  if (action === undefined || action === 'go') return false;
  // The edit is only valid for this text; if the chat has changed, the list is shown again.
  return document.getText() !== text || applyEdit(document, action);
}

interface RequestRow extends BreakdownRow {
  readonly isRequest?: boolean;
}

const SEPARATOR: RequestRow = { label: '', kind: vscode.QuickPickItemKind.Separator };

function wholeRequest(): RequestRow {
  return { label: `$(json) ${vscode.l10n.t('Show the whole request')}`, isRequest: true };
}

function pick(
  title: string,
  rows: readonly RequestRow[],
): Promise<{ readonly row: RequestRow; readonly leaveOut: boolean } | undefined> {
  const list = vscode.window.createQuickPick<RequestRow>();
  list.title = title;
  list.placeholder = vscode.l10n.t(
    'The largest parts come first. Choose one to go there, or to leave it out.',
  );
  list.matchOnDescription = true;
  list.items = rows;
  return new Promise((resolve) => {
    list.onDidTriggerItemButton(({ item }) => {
      resolve({ row: item, leaveOut: true });
      list.hide();
    });
    list.onDidAccept(() => {
      const [row] = list.selectedItems;
      resolve(row && { row, leaveOut: false });
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
    list.show();
  });
}

interface ActionRow extends vscode.QuickPickItem {
  readonly action: 'go' | TextEdit;
}

async function chooseAction(text: string, item: BreakdownItem): Promise<'go' | TextEdit | undefined> {
  const tools = item.what.kind === 'server' ? item.what.tools : [];
  const rows: ActionRow[] = [
    ...(item.at === undefined ? [] : [{ label: vscode.l10n.t('Go to It'), action: 'go' as const }]),
    ...(item.leaveOut ? [{ label: vscode.l10n.t('Leave It Out'), action: item.leaveOut }] : []),
    ...tools.map(({ tool, tokens: count, leaveOut }) => ({
      label: vscode.l10n.t('Leave Out Only {0}', tool.replaceAll('$(', '$ (')),
      description: tokens(count),
      action: leaveOut,
    })),
  ];
  const [only] = rows;
  if (rows.length === 1 && only?.action === 'go') return 'go';
  const picked = await vscode.window.showQuickPick(rows, {
    title: labelOf(text, item).replace(/^\$\([\w-]+\) /, ''),
    placeHolder: vscode.l10n.t('What is left out stays in the file. Undo brings it back.'),
  });
  return picked?.action;
}

async function goTo(document: vscode.TextDocument, offset: number): Promise<void> {
  const position = document.positionAt(offset);
  await vscode.window.showTextDocument(document, { selection: new vscode.Selection(position, position) });
}
