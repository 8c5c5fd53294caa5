import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { MarkdownIt } from 'markdown-it';
import * as vscode from 'vscode';
import { previewOptions } from './vscode/annotations/previewWords.ts';
import type { App } from './vscode/app.ts';
import type { LAUNCHED_FROM } from './vscode/assetsServer/launcher.ts';
import type { AssetsOffer } from './vscode/assetsServer/offer.ts';
import type { ChatNode } from './vscode/chats/tree.ts';
import { type Registrations, registerAll } from './vscode/registration.ts';
import type { ServerNode } from './vscode/servers/items.ts';

/** At module level because `deactivate` receives no arguments. */
let app: Promise<App> | undefined;

/** Registers commands and views. The rest is loaded when one of them is used or a chat is shown. */
export function activate(context: vscode.ExtensionContext): PreviewPlugin {
  const serversChanged = new vscode.EventEmitter<ServerNode | undefined>();
  const chatsChanged = new vscode.EventEmitter<ChatNode | undefined>();
  const load = () =>
    loadApp(context, ({ servers, chats, questions }) => {
      questions.onDidChange(() => {
        chatsView.badge = questions.badge;
      });
      servers.view.onDidChangeTreeData((node) => serversChanged.fire(node));
      chats.tree.onDidChangeTreeData((node) => chatsChanged.fire(node));
    });
  const chatsView = vscode.window.createTreeView<ChatNode>('filechat.chats', {
    treeDataProvider: lazyTree(chatsChanged.event, async () => (await load()).chats.tree),
  });
  const view = async () => (await load()).servers.view;
  const servers = vscode.window.createTreeView('filechat.servers', {
    treeDataProvider: lazyTree(serversChanged.event, view),
    showCollapseAll: true,
  });
  const registrations = {
    ...commandRegistrations(context, load, chatsView),
    ...assetsRegistrations(context),
    'filechat.file': () =>
      vscode.window.registerCustomEditorProvider('filechat.file', {
        openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
        resolveCustomEditor: async ({ uri }, panel) =>
          (await import('./vscode/gallery/filePage.ts')).showFilePage(uri, panel, context),
      } satisfies vscode.CustomReadonlyEditorProvider),
    'filechat.gallery': () =>
      vscode.window.registerWebviewPanelSerializer('filechat.gallery', {
        deserializeWebviewPanel: async (panel, state) => (await load()).gallery.restore(panel, state),
      }),
  };
  context.subscriptions.push(
    serversChanged,
    chatsChanged,
    servers,
    servers.onDidChangeCheckboxState(async (event) => (await view()).check(event)),
    chatsView,
    registerAll(registrations, context.globalState),
    vscode.workspace.onDidGrantWorkspaceTrust(showTrust),
    vscode.window.onDidChangeActiveTextEditor((editor) => showsChat(editor) && load()),
  );
  updateLauncher(context);
  showTrust();
  // Restored tabs of resources need their content provider.
  const hasResources = openTabs().some((uri) => uri.scheme === 'filechat-resource');
  if (hasResources || vscode.window.visibleTextEditors.some(showsChat)) void load();
  return { extendMarkdownIt };
}

function loadApp(context: vscode.ExtensionContext, onCreated: (app: App) => void): Promise<App> {
  app ??= start(context, onCreated);
  return app;
}

/** Loading blocks the extension host for a moment, so the message must have left it before. */
const MESSAGE_MS = 20;
/** A message that disappears at once only flickers, and a busy window never shows it. */
const SHOWN_MS = 500;

/** A command that is used right after a chat was opened gives feedback at once. */
function start(context: vscode.ExtensionContext, onCreated: (app: App) => void): Promise<App> {
  const starting = delay(MESSAGE_MS)
    .then(() => import('./vscode/app.ts'))
    .then(({ App }) => {
      const created = new App(context);
      onCreated(created);
      return created;
    })
    .catch((error: unknown) => {
      app = undefined;
      throw error;
    });
  const shown = Promise.allSettled([starting, delay(SHOWN_MS)]);
  vscode.window.setStatusBarMessage(vscode.l10n.t('$(sync~spin) Filechat: Starting…'), shown);
  return starting;
}

function commandRegistrations(
  context: vscode.ExtensionContext,
  load: () => Promise<App>,
  chats: vscode.TreeView<ChatNode>,
): Registrations {
  const register = (id: string, handler: (...given: readonly unknown[]) => unknown) =>
    [id, () => vscode.commands.registerCommand(id, handler)] as const;
  const ids = contributedCommands(context).filter((id) => id !== COPY_CONFIGURATION);
  return Object.fromEntries([
    register(COPY_CONFIGURATION, async (argument) =>
      (await import('./vscode/assetsServer/copyConfiguration.ts')).copyConfiguration(context, argument),
    ),
    ...ids.map((id) =>
      register(id, async (...given) => {
        const app = await load();
        const { runCommand } = await import('./vscode/commands.ts');
        return runCommand(app, id, given, chats);
      }),
    ),
  ]);
}

const COPY_CONFIGURATION = 'filechat.copyMcpConfiguration';

/** Those of package.json, so that the table of commands is not loaded before one is used. */
function contributedCommands({ extension }: vscode.ExtensionContext): readonly string[] {
  const { contributes }: { contributes: { commands: readonly vscode.Command[] } } = extension.packageJSON;
  return contributes.commands.map(({ command }) => command);
}

/** The API that the Markdown preview expects of an extension. */
interface PreviewPlugin {
  readonly extendMarkdownIt: (md: MarkdownIt) => MarkdownIt;
}

function extendMarkdownIt(md: MarkdownIt): MarkdownIt {
  const load = createRequire(import.meta.url);
  const preview: typeof import('./views/preview/chatPreview.ts') = load('./preview.cjs');
  return preview.previewChats(md, previewOptions());
}

function showsChat(editor: vscode.TextEditor | undefined): boolean {
  return editor?.document.uri.path.endsWith('.chat.md') === true;
}

function showTrust(): void {
  void vscode.commands.executeCommand('setContext', 'filechat.untrusted', !vscode.workspace.isTrusted);
}

function openTabs(): readonly vscode.Uri[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri] : []));
}

/** A tree whose provider is loaded when the view is first shown. */
function lazyTree<Node>(
  onDidChangeTreeData: vscode.Event<Node | undefined>,
  load: () => Promise<Omit<vscode.TreeDataProvider<Node>, 'getParent'>>,
): vscode.TreeDataProvider<Node> {
  return {
    onDidChangeTreeData,
    getChildren: async (node?: Node) => (await load()).getChildren(node),
    getTreeItem: async (node: Node) => (await load()).getTreeItem(node),
    resolveTreeItem: async (item: vscode.TreeItem, node: Node, token: vscode.CancellationToken) =>
      (await load()).resolveTreeItem?.(item, node, token) ?? item,
  };
}

/** Offers the assets MCP server to VS Code's own chat. */
function assetsRegistrations(context: vscode.ExtensionContext): Registrations {
  // Forks of VS Code may lack this API.
  if (!vscode.lm?.registerMcpServerDefinitionProvider) return {};
  const changed = new vscode.EventEmitter<void>();
  context.subscriptions.push(changed);
  let offer: Promise<AssetsOffer> | undefined;
  const load = () => {
    offer ??= import('./vscode/assetsServer/offer.ts').then(({ AssetsOffer }) => {
      const made = new AssetsOffer(context.extension, () => changed.fire());
      context.subscriptions.push(made);
      return made;
    });
    return offer;
  };
  return {
    'filechat.assets': () =>
      vscode.lm.registerMcpServerDefinitionProvider('filechat.assets', {
        onDidChangeMcpServerDefinitions: changed.event,
        provideMcpServerDefinitions: async () => (await load()).definitions(),
      }),
  };
}

function updateLauncher(context: vscode.ExtensionContext): void {
  const launchedFrom = context.globalState.get('assetsServer.launchedFrom' satisfies typeof LAUNCHED_FROM);
  if (launchedFrom !== undefined && launchedFrom !== context.extensionPath)
    void import('./vscode/assetsServer/launcher.ts').then(({ installLauncher }) => installLauncher(context));
}

/** VS Code awaits this, so no server process outlives the window. */
export async function deactivate(): Promise<void> {
  await (await app)?.dispose();
}
