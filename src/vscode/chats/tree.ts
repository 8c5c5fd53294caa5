import * as vscode from 'vscode';
import { groupBy } from '../../base/json.ts';
import { summarizeChat } from '../../chat/outline/summary.ts';
import type { Runs } from '../run/runs.ts';
import { AGE_GROUPS, ageGroup } from './ages.ts';
import { type ChatNode, chatItem, chatTooltip, groupItem, moreItem } from './chatItems.ts';
import type { ChatTexts } from './chatTexts.ts';
import type { ChatList, FoundChat } from './list.ts';

/** The editor makes a row of every one that it is given, whether or not it is seen. */
const MAX_ROWS = 300;

/** The chats of the workspace as rows, by when they were last changed. */
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
    const tell = () => this.#changed.fire(undefined);
    this.#subscription = vscode.Disposable.from(list.onDidChange(tell), runs.onDidChange(tell));
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
    return chatItem(node, { title: await this.#texts.title(node), isRunning, now: Date.now() });
  }

  /** When somebody points at a row; only then is the whole chat read. */
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
