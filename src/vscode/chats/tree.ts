import * as vscode from 'vscode';
import { groupBy } from '../../base/collections.ts';
import { type ChatSummary, summarizeChat } from '../../chat/outline/title.ts';
import type { Runs } from '../run/runs.ts';
import { AGE_GROUPS, type AgeGroup, ageGroup, ageText } from './ages.ts';
import type { ChatList, ChatTexts, FoundChat } from './chatList.ts';

/** The editor creates every row, even those that are not visible. */
const MAX_ROWS = 300;

export class ChatTree implements vscode.Disposable, vscode.TreeDataProvider<ChatNode> {
  readonly #list: ChatList;
  readonly #texts: ChatTexts;
  readonly #runs: Pick<Runs, 'isRunning' | 'onDidChange'>;
  readonly #changed = new vscode.EventEmitter<ChatNode | undefined>();
  readonly #subscription: vscode.Disposable;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(list: ChatList, texts: ChatTexts, runs: Pick<Runs, 'isRunning' | 'onDidChange'>) {
    this.#list = list;
    this.#texts = texts;
    this.#runs = runs;
    const refresh = () => this.#changed.fire(undefined);
    this.#subscription = vscode.Disposable.from(list.onDidChange(refresh), runs.onDidChange(refresh));
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  async getChildren(node?: ChatNode): Promise<ChatNode[]> {
    if (node) return node.kind === 'group' ? rowsOf(node.chats) : [];
    return groupsOf(await this.#list.all(), Date.now());
  }

  async getTreeItem(node: ChatNode): Promise<vscode.TreeItem> {
    if (node.kind === 'more') return moreItem(node.count);
    if (node.kind === 'group') {
      const [latest] = await this.#list.all();
      const isFirst = latest !== undefined && node.chats.includes(latest);
      return groupItem(node, isFirst || node.group !== 'older');
    }
    const isRunning = this.#runs.isRunning(node.uri);
    return chatItem(node, { title: await this.#texts.title(node), isRunning });
  }

  /** Called for a hover. Only then is the whole chat read. */
  async resolveTreeItem(item: vscode.TreeItem, node: ChatNode): Promise<vscode.TreeItem> {
    if (node.kind !== 'chat') return item;
    const [title, text] = await Promise.all([this.#texts.title(node), this.#texts.text(node)]);
    item.tooltip = chatTooltip(node.uri, title, summarizeChat(text));
    return item;
  }
}

function groupsOf(chats: readonly FoundChat[], now: number): ChatNode[] {
  const groups = groupBy(chats, ({ changedAt }) => ageGroup(changedAt, now));
  return AGE_GROUPS.flatMap((group) => {
    const members = groups.get(group);
    return members ? [{ kind: 'group', group, chats: members } as const] : [];
  });
}

function rowsOf(chats: readonly FoundChat[]): ChatNode[] {
  const rows: ChatNode[] = chats.slice(0, MAX_ROWS).map((chat) => ({ kind: 'chat', ...chat }));
  if (chats.length > MAX_ROWS) rows.push({ kind: 'more', count: chats.length - MAX_ROWS });
  return rows;
}

export type ChatNode =
  | { readonly kind: 'group'; readonly group: AgeGroup; readonly chats: readonly FoundChat[] }
  | ({ readonly kind: 'chat' } & FoundChat)
  | { readonly kind: 'more'; readonly count: number };

function groupItem({ group, chats }: Extract<ChatNode, { kind: 'group' }>, isOpen: boolean): vscode.TreeItem {
  const item = new vscode.TreeItem(
    groupName(group),
    isOpen ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
  );
  item.id = group;
  item.description = String(chats.length);
  item.contextValue = 'group';
  item.accessibilityInformation = {
    label:
      chats.length === 1
        ? vscode.l10n.t('{0}, 1 chat', groupName(group))
        : vscode.l10n.t('{0}, {1} chats', groupName(group), chats.length),
  };
  return item;
}

function chatItem(
  { uri, changedAt }: FoundChat,
  { title, isRunning }: { readonly title: string; readonly isRunning: boolean },
): vscode.TreeItem {
  const item = new vscode.TreeItem(title);
  const age = ageText(changedAt, Date.now(), vscode.env.language);
  const file = vscode.workspace.asRelativePath(uri);
  item.id = uri.toString();
  item.description = `${file.replace(/\.chat\.md$/, '')} · ${age}`;
  item.iconPath = isRunning
    ? new vscode.ThemeIcon('loading~spin', new vscode.ThemeColor('charts.blue'))
    : new vscode.ThemeIcon('comment-discussion');
  item.contextValue = isRunning ? 'chat.running' : 'chat';
  item.command = { command: 'vscode.open', title: vscode.l10n.t('Open Chat'), arguments: [uri] };
  const state = isRunning ? vscode.l10n.t('running') : age;
  item.accessibilityInformation = {
    label: `${title}, ${file}, ${state}`,
  };
  return item;
}

function moreItem(count: number): vscode.TreeItem {
  const item = new vscode.TreeItem(vscode.l10n.t('{0} more. Search Chats…', count));
  item.iconPath = new vscode.ThemeIcon('search');
  item.command = { command: 'filechat.searchChats', title: vscode.l10n.t('Search Chats') };
  return item;
}

/** Plain text, because the contents of a chat are untrusted. */
function chatTooltip(uri: vscode.Uri, title: string, { model, turns, assets }: ChatSummary): string {
  const lines = [
    title,
    vscode.workspace.asRelativePath(uri),
    turns === 1 ? vscode.l10n.t('1 turn') : vscode.l10n.t('{0} turns', turns),
    assets === 1 ? vscode.l10n.t('1 asset') : vscode.l10n.t('{0} assets', assets),
  ];
  if (model !== undefined) lines.push(vscode.l10n.t('Model: {0}', model));
  return lines.join('\n');
}

function groupName(group: AgeGroup): string {
  if (group === 'today') return vscode.l10n.t('Today');
  if (group === 'yesterday') return vscode.l10n.t('Yesterday');
  return group === 'week' ? vscode.l10n.t('This Week') : vscode.l10n.t('Older');
}
