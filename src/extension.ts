import * as vscode from 'vscode';
import { makeChatsInert } from './preview/inert.ts';
import type { App } from './vscode/app.ts';
import type { ServerNode } from './vscode/serverItems.ts';

/** At module level only because `deactivate` is given nothing. */
let app: Promise<App> | undefined;

const COMMANDS: Readonly<Record<string, (app: App, argument: unknown) => unknown>> = {
  newChat: (app, argument) => app.newChat(argument),
  run: (app, argument) => app.run(argument),
  stop: (app, argument) => app.stop(argument),
  resume: (app, argument) => app.resume(argument),
  fork: (app, argument) => app.fork(argument),
  compact: (app, argument) => app.compact(argument),
  attachFile: (app, argument) => app.attachFile(argument),
  cleanUpAssets: (app, argument) => app.cleanUpAssets(argument),
  forgetPermissions: (app) => app.forgetPermissions(),
  showLog: (app) => app.showLog(),
  showAuditLog: (app) => app.servers.audit.open(),
  selectModel: (app, argument) => app.modelActions.select(argument),
  setApiKey: (app, argument) => app.modelActions.setKey(argument),
  showRequest: (app, argument) => app.modelActions.showRequest(argument),
  callTool: (app, argument) => app.serverActions.callTool(argument),
  readResource: (app, argument) => app.serverActions.readResource(argument),
  insertPrompt: (app, argument) => app.serverActions.insertPrompt(argument),
  openApp: (app) => app.serverActions.openApp(),
  addServer: (app, argument) => app.serverActions.addServer(argument),
  startServer: (app, argument) => app.servers.commands.start(argument),
  stopServer: (app, argument) => app.servers.commands.stop(argument),
  restartServer: (app, argument) => app.servers.commands.restart(argument),
  showServerLog: (app, argument) => app.servers.commands.showLog(argument),
  setServerLogLevel: (app, argument) => app.servers.commands.setLogLevel(argument),
  openResource: (app, argument) => app.servers.commands.openResource(argument),
  changeInputs: (app, argument) => app.servers.commands.changeInputs(argument),
  signOut: (app, argument) => app.servers.commands.signOut(argument),
  openServerSettings: () =>
    vscode.commands.executeCommand('workbench.action.openSettings', 'filechat.mcpServers'),
};

/** Registers the commands and the view; all the rest is loaded when one is used or a chat is shown. */
export function activate(context: vscode.ExtensionContext): PreviewPlugin {
  const changed = new vscode.EventEmitter<ServerNode | undefined>();
  const load = () => {
    app ??= import('./vscode/app.ts')
      .then(({ App }) => {
        const made = new App(context);
        made.servers.view.onDidChangeTreeData((node) => changed.fire(node));
        return made;
      })
      .catch((error: unknown) => {
        app = undefined;
        throw error;
      });
    return app;
  };
  for (const [name, run] of Object.entries(COMMANDS)) {
    context.subscriptions.push(
      vscode.commands.registerCommand(`filechat.${name}`, async (argument: unknown) =>
        run(await load(), argument),
      ),
    );
  }
  context.subscriptions.push(changed, showServers(load, changed.event));
  const meet = (editors: readonly (vscode.TextEditor | undefined)[]) => {
    if (editors.some((editor) => editor?.document.uri.path.endsWith('.chat.md'))) void load();
  };
  context.subscriptions.push(vscode.window.onDidChangeActiveTextEditor((editor) => meet([editor])));
  meet(vscode.window.visibleTextEditors);
  // A tab that the editor brings back should say what it shows, and not that nobody knows its address.
  if (openTabs().some((uri) => uri.scheme === 'filechat-resource')) void load();
  return { extendMarkdownIt: makeChatsInert };
}

/** What the Markdown preview asks of an extension. */
interface PreviewPlugin {
  readonly extendMarkdownIt: typeof makeChatsInert;
}

function openTabs(): readonly vscode.Uri[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri] : []));
}

function showServers(
  load: () => Promise<App>,
  onDidChangeTreeData: vscode.Event<ServerNode | undefined>,
): vscode.Disposable {
  const tree = vscode.window.createTreeView<ServerNode>('filechat.servers', {
    treeDataProvider: {
      onDidChangeTreeData,
      getChildren: async (node?: ServerNode) => (await load()).servers.view.getChildren(node),
      getTreeItem: async (node: ServerNode) => (await load()).servers.view.getTreeItem(node),
    },
    showCollapseAll: true,
  });
  const checked = tree.onDidChangeCheckboxState(async (event) => (await load()).servers.view.check(event));
  return vscode.Disposable.from(tree, checked);
}

/** Awaited by the editor, so that no server outlives it. */
export async function deactivate(): Promise<void> {
  await (await app)?.dispose();
}
