import * as vscode from 'vscode';
import { FolderAttachments } from '../../assets/chatFiles.ts';
import { renderToolName } from '../../chat/format/calls.ts';
import { fetchApp } from '../../mcp/apps/app.ts';
import { answeredCallAt, type ReadAsset, resultForApp } from '../../mcp/apps/result.ts';
import { placesOf } from '../chat/places.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { AppCalls } from './calls.ts';
import { type AppPanelDeps, AppView, type ShownApp } from './view.ts';

/** The apps that are shown beside chats: one panel for each app of a chat. */
export class AppPanels implements vscode.Disposable {
  readonly #parts: AppPanelDeps;
  readonly #views = new Map<string, AppView>();
  readonly #closed = new AbortController();

  constructor(parts: AppPanelDeps) {
    this.#parts = parts;
  }

  /** Shows the result of a call in the app of its tool. */
  show(chat: vscode.Uri, shown: ShownApp): void {
    const { app, tool } = shown;
    if (this.#closed.signal.aborted || !vscode.workspace.isTrusted) return;
    const log = this.#parts.log(tool.server);
    for (const notice of app.notices) log.warn(`app of ${tool.tool}: ${notice}`);
    this.#viewOf(chat, shown).run(shown);
  }

  /** Shows an app again, with what the chat says about the call at the cursor. Asks no tool, and tells what goes wrong. */
  async openFromChat(
    document: vscode.TextDocument,
    position: vscode.Position,
    stop: AbortSignal,
  ): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      return tell(vscode.l10n.t('This workspace is not trusted, so no app is shown.'));
    }
    const found = answeredCallAt(document.getText(), document.offsetAt(position));
    if (!found) return tell(vscode.l10n.t('There is no answered tool call here. Put the cursor into one.'));
    const { call, result } = found;
    const { host, isLocal } = this.#parts;
    const { tools, failures } = await host.listTools(call.server, stop);
    const tool = tools.find((each) => each.server === call.server && each.tool === call.tool);
    if (tool?.app === undefined) {
      return tell(failures[0]?.reason ?? vscode.l10n.t('The tool {0} has no app.', renderToolName(call)));
    }
    const signal = AbortSignal.any([this.#closed.signal, stop]);
    const local = await isLocal(tool.server);
    const app = await fetchApp(host, { server: tool.server, uri: tool.app }, { local, signal });
    if ('problem' in app) {
      return tell(vscode.l10n.t('The app of {0} is not shown: {1}', renderToolName(tool), app.problem));
    }
    const kept = await resultForApp(result, this.#assetsOf(document.uri));
    stop.throwIfAborted();
    this.show(document.uri, { app, call, tool, result: kept });
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
    const calls = new AppCalls(this.#parts, chat.toString());
    const view = new AppView({ ...this.#parts, calls, chat, server: tool.server, onClose });
    this.#views.set(key, view);
    return view;
  }

  /** The chat's own assets, and nothing else that a link may name. */
  #assetsOf(chat: vscode.Uri): ReadAsset {
    const { folder, assetsIn } = placesOf(chat, this.#parts.globalStorage);
    return async ({ path }, maxBytes) => {
      try {
        const file = await new FolderAttachments({ folder, assetsIn, roots: [], maxBytes }).find(path);
        return { mimeType: file.mimeType, bytes: await file.read(this.#closed.signal) };
      } catch {
        return undefined;
      }
    };
  }
}

function tell(words: string): void {
  void vscode.window.showInformationMessage(plainMessage(words));
}
