import * as vscode from 'vscode';
import { chatAttachments } from '../../assets/chatFiles.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import { fetchApp } from '../../mcp/apps/app.ts';
import { answeredCallAt, type ReadAsset, resultForApp } from '../../mcp/apps/result.ts';
import { placesOf } from '../chat/chatFiles.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { AppCalls } from './appCalls.ts';
import { type AppPanelDeps, AppView, type ShownApp } from './view.ts';

export class AppPanels implements vscode.Disposable {
  readonly #deps: AppPanelDeps;
  readonly #views = new Map<string, AppView>();
  readonly #closed = new AbortController();

  constructor(deps: AppPanelDeps) {
    this.#deps = deps;
  }

  show(chat: vscode.Uri, shown: ShownApp): void {
    const { app, tool } = shown;
    if (this.#closed.signal.aborted || !vscode.workspace.isTrusted) return;
    const log = this.#deps.log(tool.server);
    for (const notice of app.notices) log.warn(`app of ${tool.tool}: ${notice}`);
    this.#viewOf(chat, shown).run(shown);
  }

  /** Shows the app of the call at the cursor, with the result in the chat. Calls no tool. */
  async openFromChat(
    document: vscode.TextDocument,
    position: vscode.Position,
    signal: AbortSignal,
  ): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      return inform(vscode.l10n.t('This workspace is not trusted, so no app is shown.'));
    }
    const found = answeredCallAt(document.getText(), document.offsetAt(position));
    if (!found)
      return inform(vscode.l10n.t('There is no tool call with a result here. Place the cursor in one.'));
    const { call, result } = found;
    const { host, isLocal } = this.#deps;
    const { tools, failures } = await host.listTools(call.server, signal);
    const tool = tools.find((each) => each.server === call.server && each.tool === call.tool);
    if (tool?.app === undefined) {
      return inform(failures[0]?.reason ?? vscode.l10n.t('The tool {0} has no app.', renderToolName(call)));
    }
    const options = {
      local: await isLocal(tool.server),
      signal: AbortSignal.any([this.#closed.signal, signal]),
    };
    const app = await fetchApp(host, { server: tool.server, uri: tool.app }, options);
    if ('problem' in app) {
      return inform(vscode.l10n.t('The app of {0} is not shown: {1}', renderToolName(tool), app.problem));
    }
    const restored = await resultForApp(result, this.#assetsOf(document.uri));
    signal.throwIfAborted();
    this.show(document.uri, { app, call, tool, result: restored });
  }

  dispose(): void {
    this.#closed.abort();
    for (const view of [...this.#views.values()]) view.dispose();
  }

  #viewOf(chat: vscode.Uri, { tool }: ShownApp): AppView {
    const key = JSON.stringify([chat.toString(), tool.server, tool.app]);
    const known = this.#views.get(key);
    if (known) return known;
    const onClose = () => this.#views.delete(key);
    const calls = new AppCalls(this.#deps, chat.toString());
    const view = new AppView({ ...this.#deps, calls, chat, server: tool.server, onClose });
    this.#views.set(key, view);
    return view;
  }

  /** Reads only the chat's own assets. */
  #assetsOf(chat: vscode.Uri): ReadAsset {
    const { folder, assetsIn } = placesOf(chat, this.#deps.globalStorage);
    return async ({ path }, maxBytes) => {
      try {
        const file = await chatAttachments({ folder, assetsIn, roots: [], maxBytes }).find(path);
        return { mimeType: file.mimeType, bytes: await file.read(this.#closed.signal) };
      } catch {
        return undefined;
      }
    };
  }
}

function inform(message: string): void {
  void vscode.window.showInformationMessage(plainMessage(message));
}
