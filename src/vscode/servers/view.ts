import * as vscode from 'vscode';
import { Throttle } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import type { ResourceList, ServerChange, ServerHost } from '../../ports/servers.ts';
import { isEnabled, setEnabled } from '../tools/switches.ts';
import {
  type Contents,
  childrenOfGroup,
  childrenOfServer,
  type GroupNode,
  groupItem,
  type Item,
  offerItem,
  promptContents,
  resourceContents,
  type ServerNode,
  type ServerRow,
  serverItem,
  statusText,
  templateContents,
  toolContents,
} from './items.ts';
import type { ServerRows } from './rows.ts';

type OfferNode = Exclude<ServerNode, { readonly kind: 'server' | 'group' }>;

interface Loading {
  readonly pending: Promise<Contents>;
  contents?: Contents;
}

const GROUPS_OF: Readonly<Record<ServerChange, readonly GroupNode['group'][]>> = {
  state: ['tools', 'resources', 'templates', 'prompts'],
  tools: ['tools'],
  resources: ['resources', 'templates'],
  prompts: ['prompts'],
};

/** Throttles a server that reports a change after every request for its list. */
const REFRESH_MS = 1000;

/** Servers, and the lists of those that are running. Showing the view starts no server. */
export class ServersView implements vscode.TreeDataProvider<ServerNode>, vscode.Disposable {
  readonly #host: ServerHost;
  readonly #rows: ServerRows;
  readonly #changed = new vscode.EventEmitter<ServerNode | undefined>();
  readonly #subscriptions: readonly vscode.Disposable[];
  /** The editor identifies a row by its node object, so those of servers and groups are kept. */
  readonly #nodes = new Map<string, ServerNode>();
  readonly #loading = new Map<string, Loading>();
  readonly #resources = new Map<string, Promise<ResourceList>>();
  readonly #throttle = new Throttle(REFRESH_MS);

  readonly onDidChangeTreeData = this.#changed.event;

  constructor({ host, rows }: { readonly host: ServerHost; readonly rows: ServerRows }) {
    this.#host = host;
    this.#rows = rows;
    this.#subscriptions = [
      host.onDidChange((server, what) => {
        if (what === 'state') this.#refresh(server, what);
        else this.#throttle.run(`${server}/${what}`, () => this.#refresh(server, what));
      }),
      rows.onDidChange((server) => {
        this.#changed.fire(server === undefined ? undefined : this.#nodes.get(server));
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('filechat.disabledTools')) this.#refreshTools();
      }),
    ];
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
    this.#throttle.dispose();
    this.#changed.dispose();
  }

  async getChildren(node?: ServerNode): Promise<ServerNode[]> {
    if (!node) return (await this.#rows.all()).map(({ server }) => this.#keep({ kind: 'server', server }));
    if (node.kind === 'group') return [...childrenOfGroup(node, await this.#load(node).pending)];
    if (node.kind !== 'server') return [];
    const row = await this.#rows.find(node.server);
    return row ? childrenOfServer(row).map((child) => this.#keep(child)) : [];
  }

  async getTreeItem(node: ServerNode): Promise<vscode.TreeItem> {
    if (node.kind === 'server') {
      const row = (await this.#rows.find(node.server)) ?? removedRow(node.server);
      return treeItem(serverItem(row), { id: node.server, isParent: true });
    }
    if (node.kind === 'group') {
      return treeItem(groupItem(node, this.#load(node).contents), { id: keyOf(node), isParent: true });
    }
    return offerTreeItem(node);
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
  #load(node: GroupNode): Loading {
    const key = keyOf(node);
    const known = this.#loading.get(key);
    if (known) return known;
    const loading: Loading = { pending: this.#fetch(node) };
    this.#loading.set(key, loading);
    void loading.pending.then((contents) => {
      loading.contents = contents;
      if (this.#loading.get(key) === loading) this.#changed.fire(this.#nodes.get(key));
    });
    return loading;
  }

  async #fetch({ server, group }: GroupNode): Promise<Contents> {
    try {
      // A request would start the server, and only the user may do that.
      const row = await this.#rows.find(server);
      if (row?.state.kind !== 'ready') return { nodes: [] };
      switch (group) {
        case 'tools':
          return toolContents(server, await this.#host.listTools(server));
        case 'resources':
          return resourceContents(server, await this.#resourcesOf(server));
        case 'templates':
          return templateContents(server, await this.#resourcesOf(server));
        case 'prompts':
          return promptContents(server, await this.#host.listPrompts(server));
      }
    } catch (error) {
      return { nodes: [], failure: messageOf(error) };
    }
  }

  #resourcesOf(server: string): Promise<ResourceList> {
    const list = this.#resources.get(server) ?? this.#host.listResources(server);
    this.#resources.set(server, list);
    return list;
  }

  #refresh(server: string, what: ServerChange): void {
    if (what === 'state' || what === 'resources') this.#resources.delete(server);
    for (const group of GROUPS_OF[what]) {
      const key = keyOf({ server, group });
      const wasShown = this.#loading.delete(key);
      // A new state refreshes the whole server.
      if (wasShown && what !== 'state') this.#changed.fire(this.#nodes.get(key));
    }
  }

  #refreshTools(): void {
    for (const key of this.#loading.keys()) {
      const node = this.#nodes.get(key);
      if (node?.kind === 'group' && node.group === 'tools') this.#changed.fire(node);
    }
  }

  #keep<N extends ServerNode>(node: N): ServerNode {
    if (node.kind !== 'server' && node.kind !== 'group') return node;
    const key = node.kind === 'server' ? node.server : keyOf(node);
    const known = this.#nodes.get(key) ?? node;
    this.#nodes.set(key, known);
    return known;
  }
}

/** Names of servers contain no slash. */
function keyOf({ server, group }: Pick<GroupNode, 'server' | 'group'>): string {
  return `${server}/${group}`;
}

/** For a server that was just removed from the settings, until the tree is refreshed. */
function removedRow(server: string): ServerRow {
  return { server, source: 'user', isRemote: false, state: { kind: 'idle' } };
}

function treeItem(item: Item, more: { readonly id?: string; readonly isParent: boolean }): vscode.TreeItem {
  const { None, Collapsed } = vscode.TreeItemCollapsibleState;
  const result = new vscode.TreeItem(item.label, more.isParent ? Collapsed : None);
  result.contextValue = item.contextValue;
  // Otherwise a screen reader reads the whole tooltip.
  const { label, description } = item;
  result.accessibilityInformation = {
    label: description === undefined ? label : `${label}, ${description}`,
  };
  if (more.id !== undefined) result.id = more.id;
  if (item.description !== undefined) result.description = item.description;
  if (item.tooltip !== undefined) result.tooltip = item.tooltip;
  if (item.icon) result.iconPath = iconPath(item.icon);
  return result;
}

function iconPath(icon: NonNullable<Item['icon']>): vscode.ThemeIcon | vscode.Uri {
  if ('image' in icon) return vscode.Uri.parse(icon.image);
  return new vscode.ThemeIcon(
    icon.id,
    icon.color === undefined ? undefined : new vscode.ThemeColor(icon.color),
  );
}

function offerTreeItem(node: OfferNode): vscode.TreeItem {
  const item = treeItem(offerItem(node), { isParent: false });
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
      tooltip: vscode.l10n.t('Whether chats may use this tool'),
    };
  }
  return item;
}

const PRIORITY = 89;

/** The number of ready servers in the status bar; a click opens the view. */
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
