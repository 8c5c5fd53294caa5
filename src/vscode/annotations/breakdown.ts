import { basename } from 'node:path';
import * as vscode from 'vscode';
import { readAssetName } from '../../base/assetNames.ts';
import type { Role } from '../../chat/format/chat.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { findAssetUses } from '../../chat/outline/references.ts';
import { excerptOf } from '../../chat/outline/title.ts';
import { failedBy } from '../../loop/document.ts';
import { describeCount } from '../../model/config/prices.ts';
import { type BreakdownItem, partsOf, totalOf } from '../../model/request/breakdown.ts';
import type { TextEdit } from '../../ports/document.ts';
import { assetTitle } from '../chat/assetTitle.ts';
import { applyEdit } from '../chat/chatCommands.ts';
import { showAt, withChat } from '../chat/chatFiles.ts';
import type { ModelCommands } from '../model/modelCommands.ts';
import type { Conversations } from '../run/conversations.ts';
import { tell } from '../ui/outcomes.ts';

interface BreakdownDeps {
  readonly conversations: {
    dryRun(chat: vscode.Uri): Pick<ReturnType<Conversations['dryRun']>, 'breakDown'>;
  };
  readonly modelCommands: Pick<ModelCommands, 'estimate'>;
}

/** Lists the parts of the next request, to go to them or leave them out. */
export async function showBreakdown(argument: unknown, deps: BreakdownDeps): Promise<void> {
  await withChat(argument, async (document) => {
    try {
      while (await showOnce(document, deps));
    } catch (error) {
      const again = { title: '', command: 'filechat.showBreakdown', arguments: [{ uri: document.uri }] };
      tell(failedBy(error), { uri: document.uri, again });
    }
  });
}

/** Returns true if something was left out and the list should be shown again. */
async function showOnce(document: vscode.TextDocument, deps: BreakdownDeps): Promise<boolean> {
  const text = document.getText();
  const answer = await pick(async (signal) => {
    const parts = await deps.conversations.dryRun(document.uri).breakDown(text, signal);
    const next = await deps.modelCommands.estimate(document, signal);
    const items = partsOf(parts, next?.tokens);
    const total = tokens(totalOf(items));
    const title = next?.model
      ? vscode.l10n.t('What Will Be Sent to {0}: {1}', next.model, total)
      : vscode.l10n.t('What Will Be Sent: {0}', total);
    return { title, items: [...breakdownRows(text, items), ...WHOLE_REQUEST] };
  });
  if (answer?.row.isRequest)
    await vscode.commands.executeCommand('filechat.showRequest', { uri: document.uri });
  const item = answer?.row.item;
  if (!item) return false;
  const action = answer.leaveOut ? item.leaveOut : await chooseAction(text, item);
  if (action === 'go') await showAt(document, item.at ?? 0);
  if (action === undefined || action === 'go') return false;
  // The edit is only valid for this text; if the chat has changed, the list is shown again.
  return document.getText() !== text || applyEdit(document, action);
}

interface BreakdownRow extends vscode.QuickPickItem {
  readonly item?: BreakdownItem;
  readonly isRequest?: boolean;
}

const WHOLE_REQUEST: readonly BreakdownRow[] = [
  { label: '', kind: vscode.QuickPickItemKind.Separator },
  { label: `$(json) ${vscode.l10n.t('Show Full Request')}`, isRequest: true },
];

/** Shows a list while its rows are loaded. The signal is aborted when the user closes it. */
function pick(
  load: (signal: AbortSignal) => Promise<Pick<vscode.QuickPick<BreakdownRow>, 'title' | 'items'>>,
): Promise<{ readonly row: BreakdownRow; readonly leaveOut: boolean } | undefined> {
  const closed = new AbortController();
  const list = vscode.window.createQuickPick<BreakdownRow>();
  list.placeholder = vscode.l10n.t('Largest parts first. Select a part to go to it or to exclude it.');
  list.matchOnDescription = true;
  list.busy = true;
  list.show();
  return new Promise((resolve, reject) => {
    const close = (row: BreakdownRow | undefined, leaveOut: boolean) => {
      resolve(row && { row, leaveOut });
      list.hide();
    };
    list.onDidTriggerItemButton(({ item }) => close(item, true));
    list.onDidAccept(() => close(list.selectedItems[0], false));
    list.onDidHide(() => {
      closed.abort();
      resolve(undefined);
      list.dispose();
    });
    load(closed.signal).then(
      (loaded) => closed.signal.aborted || Object.assign(list, loaded, { busy: false }),
      (error: unknown) => {
        reject(error);
        list.hide();
      },
    );
  });
}

async function chooseAction(text: string, item: BreakdownItem): Promise<'go' | TextEdit | undefined> {
  const tools = item.what.kind === 'server' ? item.what.tools : [];
  const rows: (vscode.QuickPickItem & { readonly action: 'go' | TextEdit })[] = [
    ...(item.at === undefined ? [] : [{ label: vscode.l10n.t('Go to Location'), action: 'go' as const }]),
    ...(item.leaveOut ? [{ label: vscode.l10n.t('Exclude'), action: item.leaveOut }] : []),
    ...tools.map(({ tool, tokens: count, leaveOut }) => ({
      label: vscode.l10n.t('Exclude Only {0}', tool.replaceAll('$(', '$ (')),
      description: tokens(count),
      action: leaveOut,
    })),
  ];
  const [only] = rows;
  if (rows.length === 1 && only?.action === 'go') return 'go';
  const picked = await vscode.window.showQuickPick(rows, {
    title: labelOf(text, item).replace(/^\$\([\w-]+\) /, ''),
    placeHolder: vscode.l10n.t('Excluded parts stay in the file. Undo includes them again.'),
  });
  return picked?.action;
}

const LEAVE_OUT: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('eye-closed'),
  tooltip: vscode.l10n.t('Exclude'),
};

const MAX_ROWS = 100;

function breakdownRows(text: string, items: readonly BreakdownItem[]): readonly BreakdownRow[] {
  const total = totalOf(items);
  const rest = items.slice(MAX_ROWS);
  const restRow = {
    label: vscode.l10n.t('{0} smaller parts', rest.length),
    description: tokens(totalOf(rest)),
  };
  return [
    ...items.slice(0, MAX_ROWS).map((item) => row(text, item, total)),
    ...(rest.length > 0 ? [restRow] : []),
  ];
}

function tokens(count: number): string {
  return vscode.l10n.t('≈{0} tokens', describeCount(Math.round(count)));
}

function percent(share: number): string {
  return (share / 100).toLocaleString(vscode.env.language, { style: 'percent' });
}

function row(text: string, item: BreakdownItem, total: number): BreakdownRow {
  const share = total > 0 ? Math.round((item.tokens / total) * 100) : 0;
  return {
    label: labelOf(text, item),
    description: share > 0 ? `${tokens(item.tokens)} · ${percent(share)}` : tokens(item.tokens),
    item,
    buttons: item.leaveOut ? [LEAVE_OUT] : [],
  };
}

function labelOf(text: string, { what }: BreakdownItem): string {
  switch (what.kind) {
    case 'system':
      return `$(settings) ${vscode.l10n.t('Instructions for the model')}`;
    case 'turn': {
      const { role, markerText } = what.turn;
      const name = role === 'tool' && markerText !== '' ? markerText : ROLES[role].name;
      const excerpt = excerptOf(text, what.turn);
      return `${ROLES[role].icon} ${plain(excerpt ? `${name}: ${excerpt}` : name)}`;
    }
    case 'file':
      return `$(file) ${plain(titleIn(text, what.name))}`;
    case 'server': {
      const { server, tools } = what;
      const isOne = tools.length === 1;
      const label = isOne
        ? vscode.l10n.t('{0}: 1 tool', server)
        : vscode.l10n.t('{0}: {1} tools', server, tools.length);
      return `$(tools) ${plain(label)}`;
    }
  }
}

/** A file is named by its link, or as it is in `cmdassets/`. */
function titleIn(text: string, target: string): string {
  const fileName = basename(target);
  if (!readAssetName(fileName)) return target;
  const uses = findAssetUses(text, parseChat(text));
  return assetTitle(
    fileName,
    uses.filter(({ path }) => basename(path) === fileName),
  );
}

const ROLES: Readonly<Record<Role, { readonly icon: string; readonly name: string }>> = {
  user: { icon: '$(account)', name: vscode.l10n.t('You') },
  assistant: { icon: '$(sparkle)', name: vscode.l10n.t('Assistant') },
  tool: { icon: '$(tools)', name: vscode.l10n.t('Tool') },
  system: { icon: '$(settings)', name: vscode.l10n.t('System') },
};

/** Escapes `$(…)`, which is an icon in labels. */
function plain(name: string): string {
  return name.replace(/\s+/g, ' ').replaceAll('$(', '$ (');
}
