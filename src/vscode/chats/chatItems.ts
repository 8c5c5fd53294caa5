import * as vscode from 'vscode';
import type { ChatSummary } from '../../chat/outline/summary.ts';
import { type AgeGroup, ageText } from './ages.ts';
import type { FoundChat } from './list.ts';

/** A row of the view of chats. */
export type ChatNode =
  | { readonly kind: 'group'; readonly group: AgeGroup; readonly chats: readonly FoundChat[] }
  | ({ readonly kind: 'chat' } & FoundChat)
  | { readonly kind: 'more'; readonly count: number };

/** What is said of a chat in its row. */
export interface ChatLook {
  readonly title: string;
  readonly isRunning: boolean;
  readonly now: number;
}

export function groupItem(
  { group, chats }: Extract<ChatNode, { kind: 'group' }>,
  isOpen: boolean,
): vscode.TreeItem {
  const item = new vscode.TreeItem(
    groupName(group),
    isOpen ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
  );
  item.id = group;
  item.description = String(chats.length);
  item.contextValue = 'group';
  item.accessibilityInformation = {
    label: vscode.l10n.t('{0}, {1} chats', groupName(group), chats.length),
  };
  return item;
}

export function chatItem(
  { uri, changedAt }: FoundChat,
  { title, isRunning, now }: ChatLook,
): vscode.TreeItem {
  const item = new vscode.TreeItem(title);
  const age = ageText(changedAt, now, vscode.env.language);
  const folder = folderOf(uri);
  item.id = uri.toString();
  item.description = folder === '' ? age : `${folder} · ${age}`;
  item.iconPath = isRunning
    ? new vscode.ThemeIcon('loading~spin', new vscode.ThemeColor('charts.blue'))
    : new vscode.ThemeIcon('comment-discussion');
  item.contextValue = isRunning ? 'chat.running' : 'chat';
  item.command = { command: 'vscode.open', title: vscode.l10n.t('Open Chat'), arguments: [uri] };
  const state = isRunning ? vscode.l10n.t('running') : age;
  item.accessibilityInformation = {
    label: folder === '' ? `${title}, ${state}` : vscode.l10n.t('{0}, {1}, in {2}', title, state, folder),
  };
  return item;
}

export function moreItem(count: number): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('{0} more: search them', count));
  item.iconPath = new vscode.ThemeIcon('search');
  item.command = { command: 'filechat.searchChats', title: vscode.l10n.t('Search Chats') };
  return item;
}

/** Text alone: what is in a chat is not ours. */
export function chatTooltip(uri: vscode.Uri, title: string, { model, turns, assets }: ChatSummary): string {
  const lines = [
    title,
    vscode.workspace.asRelativePath(uri),
    turns === 1 ? vscode.l10n.t('1 turn') : vscode.l10n.t('{0} turns', turns),
    assets === 1 ? vscode.l10n.t('1 asset') : vscode.l10n.t('{0} assets', assets),
  ];
  if (model !== undefined) lines.push(vscode.l10n.t('Model: {0}', model));
  return lines.join('\n');
}

/** From the workspace on; of several, with its name. */
export function folderOf(uri: vscode.Uri): string {
  const path = vscode.workspace.asRelativePath(uri);
  const end = path.lastIndexOf('/');
  return end < 0 ? '' : path.slice(0, end);
}

function groupName(group: AgeGroup): string {
  if (group === 'today') return vscode.l10n.t('Today');
  if (group === 'yesterday') return vscode.l10n.t('Yesterday');
  return group === 'week' ? vscode.l10n.t('This Week') : vscode.l10n.t('Older');
}
