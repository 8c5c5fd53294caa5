import * as vscode from 'vscode';
import type { App } from './vscode/app.ts';

/** At module level only because `deactivate` is given nothing. */
let app: Promise<App> | undefined;

/** Registers the commands and nothing more; all the rest is loaded when the first one is used or a chat is shown. */
export function activate(context: vscode.ExtensionContext): void {
  const load = () => {
    app ??= import('./vscode/app.ts')
      .then(({ App }) => new App(context))
      .catch((error: unknown) => {
        app = undefined;
        throw error;
      });
    return app;
  };
  const register = (command: string, run: (app: App, argument: unknown) => unknown) =>
    context.subscriptions.push(
      vscode.commands.registerCommand(command, async (argument: unknown) => run(await load(), argument)),
    );
  register('filechat.newChat', (loaded, argument) => loaded.newChat(argument));
  register('filechat.run', (loaded, argument) => loaded.run(argument));
  register('filechat.stop', (loaded, argument) => loaded.stop(argument));
  register('filechat.resume', (loaded, argument) => loaded.resume(argument));
  register('filechat.fork', (loaded, argument) => loaded.fork(argument));
  register('filechat.compact', (loaded, argument) => loaded.compact(argument));
  register('filechat.selectModel', (loaded, argument) => loaded.selectModel(argument));
  register('filechat.setApiKey', (loaded, argument) => loaded.setApiKey(argument));
  register('filechat.showRequest', (loaded, argument) => loaded.showRequest(argument));
  register('filechat.attachFile', (loaded, argument) => loaded.attachFile(argument));
  register('filechat.showLog', (loaded) => loaded.showLog());
  register('filechat.callTool', (loaded, argument) => loaded.callTool(argument));
  register('filechat.cleanUpAssets', (loaded, argument) => loaded.cleanUpAssets(argument));
  register('filechat.forgetPermissions', (loaded) => loaded.forgetPermissions());
  const meet = (editors: readonly (vscode.TextEditor | undefined)[]) => {
    if (editors.some((editor) => editor?.document.uri.path.endsWith('.chat.md'))) void load();
  };
  context.subscriptions.push(vscode.window.onDidChangeActiveTextEditor((editor) => meet([editor])));
  meet(vscode.window.visibleTextEditors);
}

/** Awaited by the editor, so that no server outlives it. */
export async function deactivate(): Promise<void> {
  await (await app)?.dispose();
}
