import * as vscode from 'vscode';
import { plainMessage } from '../ui/plainMessage.ts';
import type { CostItem } from './costItem.ts';
import { type CostView, describeNext, describeSpent, describeTurns } from './costText.ts';

interface Choice extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

/** The menu of the status bar: what answers, what it costs, and where to look. */
export async function showMenu(
  chat: vscode.TextDocument | undefined,
  cost: Pick<CostItem, 'viewOf' | 'onDidEstimate'>,
): Promise<void> {
  const list = vscode.window.createQuickPick<Choice>();
  list.title = vscode.l10n.t('Filechat: Model, Tokens and Cost');
  list.matchOnDescription = true;
  const fill = () => {
    const active = list.activeItems[0]?.label;
    const view = chat && cost.viewOf(chat);
    list.items = [
      ...(view ? chatItems(view, chat.uri, () => showMenu(chat, cost)) : [modelItem(undefined, undefined)]),
      ...otherItems(),
    ];
    const again = list.items.filter(({ label }) => label === active);
    // With an empty array, no row would be active, and Enter would choose none.
    if (again.length > 0) list.activeItems = again;
  };
  fill();
  // The estimate follows a little after the chat was opened or changed.
  const estimates = cost.onDidEstimate(fill);
  list.show();
  const chosen = await new Promise<Choice | undefined>((resolve) => {
    list.onDidAccept(() => resolve(list.selectedItems[0]));
    list.onDidHide(() => resolve(undefined));
  });
  estimates.dispose();
  list.dispose();
  await chosen?.run?.();
}

function chatItems(view: CostView, uri: vscode.Uri, again: () => unknown): readonly Choice[] {
  const { next, total, model } = view;
  const { t } = vscode.l10n;
  return [
    modelItem(model, uri),
    {
      label: `$(list-tree) ${t('Show What Will Be Sent')}`,
      description: next && next.tokens > 0 ? describeNext(next) : '',
      run: () => vscode.commands.executeCommand('filechat.showBreakdown', { uri }),
    },
    {
      label: `$(credit-card) ${t('Show Cost of This Chat')}`,
      description: total ? t('so far {0}', describeSpent(total)) : t('no reply yet'),
      run: () => showCost(view, again),
    },
  ];
}

function modelItem(model: string | undefined, uri: vscode.Uri | undefined): Choice {
  return {
    label: `$(hubot) ${vscode.l10n.t('Select Model…')}`,
    description: plainMessage(model ?? ''),
    run: () => vscode.commands.executeCommand('filechat.selectModel', uri && { uri }),
  };
}

function otherItems(): readonly Choice[] {
  const { t } = vscode.l10n;
  const command = (id: string, ...args: readonly unknown[]) => ({
    run: () => vscode.commands.executeCommand(id, ...args),
  });
  return [
    { label: `$(key) ${t('Set API Key…')}`, ...command('filechat.setApiKey') },
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    { label: `$(server-process) ${t('Show Servers')}`, ...command('filechat.servers.focus') },
    { label: `$(output) ${t('Show Log')}`, ...command('filechat.showLog') },
    {
      label: `$(gear) ${t('Open Settings')}`,
      ...command('workbench.action.openSettings', '@ext:filechat.filechat'),
    },
  ];
}

/** Each reply with its tokens and its cost. */
async function showCost(view: CostView, again: () => unknown): Promise<void> {
  const back: Choice = {
    label: `$(arrow-left) ${vscode.l10n.t('Back')}`,
    run: again,
  };
  const rows = view.total ? describeTurns(view.total) : [];
  const items: readonly Choice[] = [back, ...rows];
  const placeHolder = view.total
    ? vscode.l10n.t('so far {0}', describeSpent(view.total))
    : vscode.l10n.t('No usage recorded for this chat yet.');
  const title = vscode.l10n.t('Cost of This Chat');
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder });
  await chosen?.run?.();
}
