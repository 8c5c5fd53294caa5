import * as vscode from 'vscode';
import { Throttle } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import type { ServerChange, ServerHost } from '../../ports/servers.ts';
import { isEnabled, setEnabled } from '../tools/switches.ts';
import {
  childrenOfGroup,
  childrenOfServer,
  type Group,
  type GroupNode,
  groupItem,
  type Item,
  type Lists,
  type OfferNode,
  offerItem,
  promptContents,
  resourceContents,
  type ServerNode,
  type ServerRow,
  serverItem,
  statusText,
  toolContents,
} from './items.ts';
import type { ServerRows } from './rows.ts';

type ListKind = Exclude<ServerChange, 'state'>;

interface Loading {
  readonly pending: Promise<Lists>;
  /** While a failed list is loaded again, the failed one. */
  lists?: Lists | undefined;
  isDone: boolean;
}

const GROUPS_OF: Readonly<Record<ListKind, readonly Group[]>> = {
  tools: ['tools'],
  resources: ['resources', 'templates'],
  prompts: ['prompts'],
};
const EMPTY = { nodes: [] };

/** Throttles a server that reports a change after every request for its list. */
const REFRESH_MS = 1000;

/** Servers, and the lists of those that are running. Showing the view starts no server. */
export class ServersView implements vscode.TreeDataProvider<ServerNode>, vscode.Disposable {
  readonly #host: ServerHost;
  readonly #rows: ServerRows;
  readonly #changed = new vscode.EventEmitter<ServerNode | undefined>();
  readonly #disposables: vscode.Disposable;
  /** The editor identifies a row by its node object, so those of servers and groups are kept. */
  readonly #nodes = new Map<string, ServerNode>();
  readonly #loading = new Map<string, Loading>();
  readonly #expanded = new Set<string>();
  #shown: readonly string[] = [];

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(host: ServerHost, rows: ServerRows) {
    this.#host = host;
    this.#rows = rows;
    const throttle = new Throttle(REFRESH_MS);
    this.#disposables = vscode.Disposable.from(
      host.onDidChange((server, what) => {
        if (what === 'state') this.#forget(server);
        else throttle.run(`${server}/${what}`, () => this.#refresh(server, what));
      }),
      rows.onDidChange((server) => {
        if (server === undefined) void this.#refreshAll();
        else this.#changed.fire(this.#nodes.get(server));
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('filechat.disabledTools')) this.#refreshTools();
      }),
      throttle,
      this.#changed,
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async getChildren(node?: ServerNode): Promise<ServerNode[]> {
    if (!node) {
      this.#shown = (await this.#rows.all()).map(({ server }) => server);
      return this.#shown.map((server) => this.#keep({ kind: 'server', server }));
    }
    if (node.kind === 'group') {
      const lists = await this.#load(node, { retries: true }).pending;
      return [...childrenOfGroup(node, lists[node.group] ?? EMPTY)];
    }
    if (node.kind !== 'server') return [];
    const row = await this.#rows.find(node.server);
    return row ? childrenOfServer(row).map((child) => this.#keep(child)) : [];
  }

  async getTreeItem(node: ServerNode): Promise<vscode.TreeItem> {
    if (node.kind === 'server') {
      const row = (await this.#rows.find(node.server)) ?? removedRow(node.server);
      return treeItem(serverItem(row), node.server, this.#expanded.has(node.server));
    }
    if (node.kind !== 'group') return offerTreeItem(node);
    const { lists } = this.#load(node);
    const isExpanded = node.group === 'tools' && this.#expanded.has(node.server);
    return treeItem(groupItem(node, lists && (lists[node.group] ?? EMPTY)), keyOf(node), isExpanded);
  }

  /** Shows the tools of a server that is about to be added. */
  expand(server: string): void {
    this.#expanded.add(server);
  }

  async check({ items }: vscode.TreeCheckboxChangeEvent<ServerNode>): Promise<void> {
    for (const [node, state] of items) {
      const on = state === vscode.TreeItemCheckboxState.Checked;
      const isDone = node.kind === 'tool' && (await setEnabled(node, on).catch(() => false));
      // The editor has already changed the box; show the actual state again.
      if (!isDone) this.#refreshTools();
    }
  }

  /** The row of the group is shown at once; its count follows when the list has loaded. */
  #load({ server, group }: GroupNode, { retries = false } = {}): Loading {
    const kind = group === 'templates' ? 'resources' : group;
    const key = keyOf({ server, group: kind });
    const known = this.#loading.get(key);
    if (known && !(retries && known.isDone && hasFailed(known.lists))) return known;
    const loading: Loading = { pending: this.#fetch(server, kind), lists: known?.lists, isDone: false };
    this.#loading.set(key, loading);
    void loading.pending.then((lists) => {
      loading.lists = lists;
      loading.isDone = true;
      // After a second failure, a refresh would only load the list again.
      const isNews = !known || !hasFailed(lists);
      if (isNews && this.#loading.get(key) === loading) this.#fireGroups(server, kind);
    });
    return loading;
  }

  async #fetch(server: string, kind: ListKind): Promise<Lists> {
    try {
      // A request would start the server, and only the user may do that.
      const row = await this.#rows.find(server);
      if (row?.state.kind !== 'ready') return {};
      if (kind === 'tools') return toolContents(server, await this.#host.listTools(server));
      if (kind === 'prompts') return promptContents(server, await this.#host.listPrompts(server));
      return resourceContents(server, await this.#host.listResources(server));
    } catch (error) {
      const failed = { nodes: [], failure: messageOf(error) };
      return Object.fromEntries(GROUPS_OF[kind].map((group) => [group, failed]));
    }
  }

  /** A new state refreshes the whole server. */
  #forget(server: string): void {
    for (const kind of Object.keys(GROUPS_OF)) this.#loading.delete(`${server}/${kind}`);
  }

  #refresh(server: string, kind: ListKind): void {
    const wasShown = this.#loading.delete(keyOf({ server, group: kind }));
    if (wasShown) this.#fireGroups(server, kind);
  }

  #fireGroups(server: string, kind: ListKind): void {
    for (const group of GROUPS_OF[kind]) {
      const node = this.#nodes.get(keyOf({ server, group }));
      if (node) this.#changed.fire(node);
    }
  }

  /**
   * While the editor reads the whole tree again, an entry of a menu that is open does not know its row. So it does this
   * only for other servers than before.
   */
  async #refreshAll(): Promise<void> {
    const servers = await this.#rows.all().then(
      (rows) => rows.map(({ server }) => server),
      () => [],
    );
    const isSame = servers.length > 0 && servers.join('/') === this.#shown.join('/');
    const changed = isSame ? servers.map((server) => this.#nodes.get(server)) : [undefined];
    for (const node of changed) this.#changed.fire(node);
  }

  #refreshTools(): void {
    for (const node of this.#nodes.values()) {
      if (node.kind === 'group' && node.group === 'tools') this.#changed.fire(node);
    }
  }

  #keep(node: ServerNode): ServerNode {
    if (node.kind !== 'server' && node.kind !== 'group') return node;
    const key = node.kind === 'server' ? node.server : keyOf(node);
    const known = this.#nodes.get(key) ?? node;
    this.#nodes.set(key, known);
    return known;
  }
}

function hasFailed(lists: Lists | undefined): boolean {
  return Object.values(lists ?? {}).some(({ failure }) => failure !== undefined);
}

/** Names of servers contain no slash. */
function keyOf({ server, group }: Pick<GroupNode, 'server' | 'group'>): string {
  return `${server}/${group}`;
}

/** For a server that was just removed from the settings, until the tree is refreshed. */
function removedRow(server: string): ServerRow {
  return { server, source: 'user', isRemote: false, state: { kind: 'idle' } };
}

/** Rows with children have an id. */
function treeItem(item: Item, id?: string, isExpanded = false): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const state = isExpanded ? Expanded : Collapsed;
  const result = new vscode.TreeItem(item.label, id === undefined ? None : state);
  result.contextValue = item.contextValue;
  // Otherwise a screen reader reads the whole tooltip.
  const label = item.description === undefined ? item.label : `${item.label}, ${item.description}`;
  result.accessibilityInformation = { label };
  if (id !== undefined) result.id = id;
  if (item.description !== undefined) result.description = item.description;
  if (item.tooltip !== undefined) result.tooltip = item.tooltip;
  if (item.icon) result.iconPath = iconPath(item.icon);
  return result;
}

function iconPath(icon: NonNullable<Item['icon']>): vscode.ThemeIcon | vscode.Uri {
  if ('image' in icon) return vscode.Uri.parse(icon.image);
  const color = icon.color === undefined ? undefined : new vscode.ThemeColor(icon.color);
  return new vscode.ThemeIcon(icon.id, color);
}

function offerTreeItem(node: OfferNode): vscode.TreeItem {
  const item = treeItem(offerItem(node));
  if (node.kind === 'note' && node.command !== undefined) {
    item.command = { command: node.command, title: node.text, arguments: [{ server: node.server }] };
  }
  if (node.kind === 'resource') {
    const argument = { server: node.server, resource: node.resource };
    item.command = { command: 'filechat.openResource', title: vscode.l10n.t('Open'), arguments: [argument] };
  }
  if (node.kind === 'tool') {
    const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
    item.checkboxState = {
      state: isEnabled(node) ? Checked : Unchecked,
      tooltip: vscode.l10n.t('Whether chats can use this tool'),
    };
  }
  return item;
}

const PRIORITY = 89;

export function showServerStatus(rows: ServerRows): vscode.Disposable {
  const { Right } = vscode.StatusBarAlignment;
  const item = vscode.window.createStatusBarItem('filechat.servers', Right, PRIORITY);
  item.name = vscode.l10n.t('Filechat: Servers');
  item.command = 'filechat.servers.focus';
  const update = async () => {
    const status = await rows.all().then(statusText, () => undefined);
    if (!status) return item.hide();
    item.text = status.text;
    item.tooltip = status.tooltip;
    item.accessibilityInformation = { label: status.tooltip.replaceAll('\n', ', ') };
    item.backgroundColor = status.isWarning
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    item.show();
  };
  void update();
  return vscode.Disposable.from(
    rows.onDidChange(() => void update()),
    item,
  );
}
