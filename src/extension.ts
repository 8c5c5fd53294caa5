import { createRequire } from 'node:module';
import type { MarkdownIt } from 'markdown-it';
import * as vscode from 'vscode';
import type { App } from './vscode/app.ts';
import type { LAUNCHED_FROM } from './vscode/assetsServer/launcher.ts';
import type { AssetsOffer } from './vscode/assetsServer/offer.ts';
import type { ChatNode } from './vscode/chats/tree.ts';
import { previewOptions } from './vscode/read/previewWords.ts';
import { type Registrations, registerAll } from './vscode/registration.ts';
import type { ServerNode } from './vscode/servers/items.ts';

/** At module level because `deactivate` receives no arguments. */
let app: Promise<App> | undefined;

/** Menus pass all selected items as a second argument; `chats` are the selected rows of the view. */
type Command = (app: App, argument: unknown, selected: unknown, chats: readonly ChatNode[]) => unknown;

const COMMANDS: Readonly<Record<string, Command>> = {
  newChat: (app, argument) => app.chats.create(argument),
  newChatWithSelection: (app) => app.chats.createWithSelection(),
  newChatAboutFile: (app, argument, selected) => app.chats.createAbout(argument, selected),
  run: (app, argument) => app.run(argument),
  stop: (app, argument) => app.stop(argument),
  resume: (app, argument) => app.resume(argument),
  regenerate: (app, argument) => app.regenerate(argument),
  retry: (app, argument) => app.retry(argument),
  editArguments: (app, argument) => app.editArguments(argument),
  fork: (app, argument) => app.fork(argument),
  compact: (app, argument) => app.compact(argument),
  showAssets: (app, argument) => app.gallery.show(argument),
  showBreakdown: (app, argument) => app.showBreakdown(argument),
  openSample: (app, argument) => app.chats.openSample(argument),
  searchChats: (app, argument) => app.chats.search(argument),
  refreshChats: (app) => app.chats.refresh(),
  openWalkthrough: (app) => app.chats.openWalkthrough(),
  openPreview: (app, argument, _, chats) => app.chats.act('preview', argument, chats),
  revealChat: (app, argument, _, chats) => app.chats.act('reveal', argument, chats),
  renameChat: (app, argument, _, chats) => app.chats.act('rename', argument, chats),
  deleteChat: (app, argument, _, chats) => app.chats.act('delete', argument, chats),
  attachFile: (app, argument) => app.attachFile(argument),
  cleanUpAssets: (app, argument) => app.cleanUpAssets(argument),
  forgetPermissions: (app) => app.forgetPermissions(),
  showLog: (app) => app.log.show(),
  showAuditLog: (app) => app.servers.audit.open(),
  selectModel: (app, argument) => app.modelCommands.select(argument),
  setApiKey: (app, argument) => app.modelCommands.setKey(argument),
  showRequest: (app, argument) => app.modelCommands.showRequest(argument),
  callTool: (app, argument) => app.serverCommands.callTool(argument),
  readResource: (app, argument) => app.serverCommands.readResource(argument),
  insertPrompt: (app, argument) => app.serverCommands.insertPrompt(argument),
  openApp: (app) => app.serverCommands.openApp(),
  addServer: (app, argument) => app.serverCommands.add(argument),
  startServer: (app, argument) => app.serverCommands.start(argument),
  stopServer: (app, argument) => app.serverCommands.stop(argument),
  restartServer: (app, argument) => app.serverCommands.restart(argument),
  showServerLog: (app, argument) => app.serverCommands.showLog(argument),
  setServerLogLevel: (app, argument) => app.serverCommands.setLogLevel(argument),
  openResource: (app, argument) => app.serverCommands.openResource(argument),
  changeInputs: (app, argument) => app.serverCommands.changeInputs(argument),
  signOut: (app, argument) => app.serverCommands.signOut(argument),
  openServerSettings: () =>
    vscode.commands.executeCommand('workbench.action.openSettings', 'filechat.mcpServers'),
};

/** Registers commands and views. The rest is loaded when one of them is used or a chat is shown. */
export function activate(context: vscode.ExtensionContext): PreviewPlugin {
  const serversChanged = new vscode.EventEmitter<ServerNode | undefined>();
  const chatsChanged = new vscode.EventEmitter<ChatNode | undefined>();
  const load = () =>
    loadApp(context, ({ servers, chats }) => {
      servers.view.onDidChangeTreeData((node) => serversChanged.fire(node));
      chats.tree.onDidChangeTreeData((node) => chatsChanged.fire(node));
    });
  const chats = vscode.window.createTreeView<ChatNode>('filechat.chats', {
    treeDataProvider: lazyTree(chatsChanged.event, async () => (await load()).chats.tree),
  });
  const view = async () => (await load()).servers.view;
  const servers = vscode.window.createTreeView('filechat.servers', {
    treeDataProvider: lazyTree(serversChanged.event, view),
    showCollapseAll: true,
  });
  const registrations = {
    ...commandRegistrations(context, load, chats),
    ...assetsRegistrations(context),
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
    chats,
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
  app ??= import('./vscode/app.ts')
    .then(({ App }) => {
      const created = new App(context);
      onCreated(created);
      return created;
    })
    .catch((error: unknown) => {
      app = undefined;
      throw error;
    });
  return app;
}

function commandRegistrations(
  context: vscode.ExtensionContext,
  load: () => Promise<App>,
  chats: vscode.TreeView<ChatNode>,
): Registrations {
  const register = (id: string, handler: (argument: unknown, selected: unknown) => unknown) =>
    [id, () => vscode.commands.registerCommand(id, handler)] as const;
  return Object.fromEntries([
    register('filechat.copyMcpConfiguration', async (argument) =>
      (await import('./vscode/assetsServer/copyConfiguration.ts')).copyConfiguration(context, argument),
    ),
    ...Object.entries(COMMANDS).map(([name, run]) =>
      register(`filechat.${name}`, async (argument, selected) =>
        run(await load(), argument, selected, chats.selection),
      ),
    ),
  ]);
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
