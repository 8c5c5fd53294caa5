import * as vscode from 'vscode';
import type { App } from './app.ts';
import type { SelectedChats } from './chats/chats.ts';
import { failed, tell } from './ui/outcomes.ts';

/** Menus pass all selected items as a second argument; `chats` is the view. */
type Command = (app: App, argument: unknown, selected: unknown, chats: SelectedChats) => unknown;

/** The commands of package.json, by their names without the prefix. */
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
  allowCall: (app, argument) => app.answers.allow(argument),
  declineCall: (app, argument) => app.answers.decline(argument),
  showCall: (app, argument) => app.answers.show(argument),
  showToolChanges: (app, argument) => app.answers.showChanges(argument),
  fork: (app, argument) => app.fork(argument),
  compact: (app, argument) => app.compact(argument),
  showAssets: (app, argument) => app.gallery.show(argument),
  showBreakdown: (app, argument) => app.showBreakdown(argument),
  showMenu: (app, argument) => app.showMenu(argument),
  openSample: (app, argument) => app.chats.openSample(argument),
  searchChats: (app, argument) => app.chats.search(argument),
  refreshChats: (app) => app.chats.refresh(),
  openWalkthrough: (app) => app.chats.openWalkthrough(),
  openPreview: (app, argument, _, chats) => app.chats.act('preview', argument, chats),
  revealChat: (app, argument, _, chats) => app.chats.act('reveal', argument, chats),
  renameChat: (app, argument, _, chats) => app.chats.act('rename', argument, chats),
  deleteChat: (app, argument, _, chats) => app.chats.act('delete', argument, chats),
  attachFile: (app, argument) => app.attachFile(argument),
  attachAddress: (app, argument) => app.attachAddress(argument),
  cleanUpAssets: (app, argument) => app.cleanUpAssets(argument),
  forgetPermissions: (app) => app.forgetPermissions(),
  showLog: (app) => app.log.show(),
  showAuditLog: (app) => app.servers.audit.open(),
  selectModel: (app, argument) => app.modelCommands.select(argument),
  setApiKey: (app, argument) => app.modelCommands.setKey(argument),
  forgetModelLimits: (app, argument) => app.modelCommands.forgetLimits(argument),
  showRequest: (app, argument) => app.modelCommands.showRequest(argument),
  callTool: (app, argument) => app.serverCommands.callTool(argument),
  readResource: (app, argument) => app.serverCommands.readResource(argument),
  insertPrompt: (app, argument) => app.serverCommands.insertPrompt(argument),
  openApp: (app) => app.serverCommands.openApp(),
  addServer: (app, argument) => app.serverCommands.add(argument),
  editServer: (app, argument) => app.serverCommands.edit(argument),
  removeServer: (app, argument) => app.serverCommands.remove(argument),
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

export function runCommand(app: App, id: string, given: readonly unknown[], chats: SelectedChats): unknown {
  const run = COMMANDS[id.slice(id.indexOf('.') + 1)];
  if (!run) throw new Error(`There is no command ${id}.`);
  if (isRowGone(given))
    return tell(failed(vscode.l10n.t('The list was changed in the meantime. Nothing was done; try again.')));
  const [argument, selected] = given;
  return run(app, argument, selected, chats);
}

/**
 * The menu of a row passes the row and the selected ones. While a view is read again, VS Code does not know its rows,
 * and the command would act on the active chat.
 */
function isRowGone(given: readonly unknown[]): boolean {
  return given.length > 1 && given.every((each) => each === undefined);
}
