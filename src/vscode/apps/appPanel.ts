import * as vscode from 'vscode';
import { FolderAttachments } from '../../assets/attachments.ts';
import { renderToolName } from '../../chat/toolCall.ts';
import { answeredCallAt } from '../../mcp/appInChat.ts';
import { type ReadAsset, resultForApp } from '../../mcp/appResult.ts';
import type { AppTool } from '../../mcp/appSession.ts';
import { fetchApp } from '../../mcp/fetchApp.ts';
import type { Log, ServerHost, ToolCall, ToolInfo } from '../../ports.ts';
import { placesOf } from '../places.ts';
import { plainMessage } from '../plainMessage.ts';
import { AppView } from './appView.ts';

/** The servers, and a call whose result is not made into files: an app gets it as the server sent it. */
export interface AppHost extends Pick<ServerHost, 'listTools' | 'fetchResource' | 'listResources'> {
  callToolRaw(
    call: ToolCall,
    options: { readonly signal?: AbortSignal | undefined; readonly chat?: string | undefined },
  ): Promise<unknown>;
}

export interface AppPanelsParts {
  readonly extensionUri: vscode.Uri;
  readonly globalStorage: vscode.Uri;
  readonly version: string;
  readonly host: AppHost;
  readonly mayCall: (call: ToolCall, tool: ToolInfo) => Promise<boolean>;
  /** Puts text into the turn of the user's at the end of the chat. The text is safe as Markdown. */
  readonly addToChat: (chat: vscode.Uri, markdownSafeText: string) => Promise<void>;
  readonly log: (server: string) => Log;
  /** Whether a server runs on this machine: its apps may then reach loopback. Nobody's may, unless this says so. */
  readonly isLocal?: (server: string) => Promise<boolean>;
}

/** The apps that are shown beside chats: one panel for each app of a chat. */
export class AppPanels implements vscode.Disposable {
  readonly #parts: AppPanelsParts;
  readonly #views = new Map<string, AppView>();
  readonly #closed = new AbortController();

  constructor(parts: AppPanelsParts) {
    this.#parts = parts;
  }

  /** Shows the result of a call in the app of its tool. Whatever goes wrong is told, and the chat has the result. */
  async show(chat: vscode.Uri, call: ToolCall, tool: AppTool, rawResult: unknown): Promise<void> {
    if (tool.app === undefined || !vscode.workspace.isTrusted) return;
    const { host, log, isLocal } = this.#parts;
    const { signal } = this.#closed;
    const local = (await isLocal?.(tool.server)) ?? false;
    const app = await fetchApp(host, { server: tool.server, uri: tool.app }, { local, signal });
    if (signal.aborted) return;
    if ('problem' in app) {
      log(tool.server).warn(`The app of ${tool.tool} is not shown: ${app.problem}`);
      const words = `The app of ${renderToolName(tool)} is not shown: ${app.problem}`;
      void vscode.window.showWarningMessage(plainMessage(words));
      return;
    }
    for (const notice of app.notices) log(tool.server).warn(`app of ${tool.tool}: ${notice}`);
    this.#viewOf(chat, tool, tool.app).run({ app, call, tool, result: rawResult });
  }

  /** Shows an app again, with what the chat says about the call at the cursor. Asks no tool. */
  async openFromChat(document: vscode.TextDocument, position: vscode.Position): Promise<void> {
    if (!vscode.workspace.isTrusted) return tell('This workspace is not trusted, so no app is shown.');
    const found = answeredCallAt(document.getText(), document.offsetAt(position));
    if (!found) return tell('There is no answered tool call here. Put the cursor into one.');
    const { call, result } = found;
    const { tools, failures } = await this.#parts.host.listTools(call.server);
    const tool = tools.find((each) => each.server === call.server && each.tool === call.tool);
    if (tool?.app === undefined) {
      return tell(failures[0]?.reason ?? `The tool ${renderToolName(call)} has no app.`);
    }
    await this.show(document.uri, call, tool, await resultForApp(result, this.#assetsOf(document.uri)));
  }

  dispose(): void {
    this.#closed.abort();
    for (const view of [...this.#views.values()]) view.dispose();
  }

  #viewOf(chat: vscode.Uri, tool: ToolInfo, uri: string): AppView {
    const key = JSON.stringify([chat.toString(), tool.server, uri]);
    const known = this.#views.get(key);
    if (known) return known;
    const onClose = () => this.#views.delete(key);
    const view = new AppView({ ...this.#parts, chat, server: tool.server, onClose });
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
