import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../assets/names.ts';
import { FolderAssets } from '../assets/store.ts';
import { nextAction } from '../chat/nextAction.ts';
import { renderToolName } from '../chat/toolCall.ts';
import { ChatListener, type ToolRequest } from '../listener.ts';
import type { Connections } from '../mcp/connections.ts';
import { McpClient } from '../mcpClient.ts';
import type { AssetStore, RunOutcome, ToolCall, ToolProgress } from '../ports.ts';
import { askArguments } from './askArguments.ts';
import { activeChat, createChat, isChat, moveToEnd } from './chatFiles.ts';
import { type Fields, readFields, readObject, readString, readUri } from './commandArguments.ts';
import { EditorDocument } from './editorDocument.ts';
import { pickTool } from './pickTool.ts';
import { ServerList } from './servers.ts';
import { resultLimits, timeoutMs } from './settings.ts';
import { ToolConsent } from './toolConsent.ts';

/** All parts of Filechat in the editor, and what its commands do. Made when the first command is used. */
export class App {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #servers: ServerList;
  readonly #tools: McpClient;
  readonly #consent: ToolConsent;
  readonly #running = new Map<string, ChatListener>();

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#log = vscode.window.createOutputChannel('Filechat', { log: true });
    this.#servers = new ServerList(context.globalState, this.#log);
    this.#tools = new McpClient(() => this.#openConnections(), resultLimits);
    this.#consent = new ToolConsent(context.globalState, (server) => this.#servers.fingerprint(server));
    context.subscriptions.push(
      this.#log,
      vscode.window.onDidChangeActiveTextEditor(() => this.#showState()),
    );
  }

  /** The SDK is large; New Chat should not wait for it. */
  async #openConnections(): Promise<Connections> {
    const { Connections } = await import('../mcp/connections.ts');
    return new Connections({
      servers: () => this.#servers.allowed(),
      log: this.#log,
      timeoutMs,
      clientInfo: { name: 'filechat', version: String(this.#context.extension.packageJSON.version) },
    });
  }

  async dispose(): Promise<void> {
    for (const listener of this.#running.values()) listener.stop();
    await this.#tools.dispose();
  }

  async newChat(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    await createChat(readUri(fields, 'folder'), readString(fields, 'content'));
  }

  async run(argument: unknown): Promise<RunOutcome> {
    const document = await this.#findChat(readFields(argument));
    if (!document) return this.#tell(failed('Open a chat first: a file whose name ends in .chat.md.'));
    if (!vscode.workspace.isTrusted) return this.#tell(failed(UNTRUSTED));
    const action = nextAction(document.getText());
    if (action.kind === 'runTools') {
      for (const { server } of action.calls) await this.#servers.askForWorkspaceServers(server);
    }
    return this.#tell(await this.#withListener(document, 'running the chat', (listener) => listener.run()));
  }

  async stop(argument: unknown): Promise<void> {
    const uri = (await this.#findChat(readFields(argument)))?.uri;
    if (uri) this.#running.get(uri.toString())?.stop();
  }

  async callTool(argument: unknown): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return this.#tell(failed(UNTRUSTED));
    const fields = readFields(argument);
    const request = await this.#readRequest(fields);
    if (!request) return failed('No tool was chosen.');
    const document = (await this.#findChat(fields)) ?? (await createChat());
    if (!document) return failed('There is no chat to write into.');
    const work = (listener: ChatListener) => listener.callTool(request);
    return this.#tell(await this.#withListener(document, renderToolName(request), work));
  }

  /** What to call: as the caller says, else as the user picks it. */
  async #readRequest(fields: Fields): Promise<ToolRequest | undefined> {
    const server = readString(fields, 'server');
    const tool = readString(fields, 'tool');
    const given = readObject(fields, 'arguments');
    await this.#servers.askForWorkspaceServers(server);
    if (server !== undefined && tool !== undefined) return { server, tool, arguments: given ?? {} };
    const picked = await pickTool(this.#tools.listTools(server));
    const args = picked && (await askArguments(picked, given));
    return args && { server: picked.server, tool: picked.tool, arguments: args };
  }

  async #findChat(fields: Fields): Promise<vscode.TextDocument | undefined> {
    const uri = readUri(fields, 'uri');
    if (!uri) return activeChat();
    if (!isChat(uri)) throw new TypeError(`${uri.path} is not a chat: its name must end in .chat.md.`);
    return vscode.workspace.openTextDocument(uri);
  }

  /** One turn loop a document at a time, with a notification that can cancel it. */
  async #withListener(
    document: vscode.TextDocument,
    title: string,
    work: (listener: ChatListener) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    const key = document.uri.toString();
    if (this.#running.has(key)) return failed('This chat is running already. Stop it first, or wait.');
    const options = { location: vscode.ProgressLocation.Notification, title: 'Filechat', cancellable: true };
    return vscode.window.withProgress(options, async (progress, token) => {
      progress.report({ message: title });
      const listener = new ChatListener({
        document: new EditorDocument(document),
        assets: await this.#assetsFor(document.uri),
        tools: this.#tools,
        consent: this.#consent,
        log: this.#log,
        onProgress: reportTo(progress),
      });
      this.#running.set(key, listener);
      this.#showState();
      const followed = editorsAtEnd(document);
      const cancelled = token.onCancellationRequested(() => listener.stop());
      try {
        return await work(listener);
      } finally {
        cancelled.dispose();
        this.#running.delete(key);
        this.#showState();
        for (const editor of followed) moveToEnd(editor);
      }
    });
  }

  /** Beside the chat; a chat that is not on a disk has no beside, so its files go where they last. */
  async #assetsFor(uri: vscode.Uri): Promise<AssetStore> {
    if (uri.scheme === 'file') return new FolderAssets({ folder: dirname(uri.fsPath) });
    const folder = this.#context.globalStorageUri;
    await mkdir(folder.fsPath, { recursive: true });
    const linkPrefix = vscode.Uri.joinPath(folder, ASSET_FOLDER).path;
    this.#log.info(`${uri.toString()} is not a saved file. Its assets go to ${linkPrefix}.`);
    return new FolderAssets({ folder: folder.fsPath, linkPrefix });
  }

  /** The button in the title bar is Stop while the chat in front runs, else Run. */
  #showState(): void {
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    const running = uri !== undefined && this.#running.has(uri);
    void vscode.commands.executeCommand('setContext', 'filechat.running', running);
  }

  #tell(outcome: RunOutcome): RunOutcome {
    if (!outcome.ok && outcome.error !== undefined) void vscode.window.showWarningMessage(outcome.error);
    return outcome;
  }
}

const UNTRUSTED =
  'This workspace is not trusted, so no tool is called. Trust it first: “Workspaces: Manage Workspace Trust”.';

function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

/** Who reads at the end wants to go on reading at the end; who reads elsewhere is left alone. */
function editorsAtEnd(document: vscode.TextDocument): readonly vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter(
    (editor) => editor.document === document && editor.selection.active.line >= document.lineCount - 2,
  );
}

function reportTo(progress: vscode.Progress<{ message?: string; increment?: number }>) {
  let reported = 0;
  return (call: ToolCall, { message, done, total }: ToolProgress) => {
    const percent = done !== undefined && total ? Math.min(100, (done / total) * 100) : reported;
    const increment = Math.max(0, percent - reported);
    reported = Math.max(reported, percent);
    progress.report({ message: `${renderToolName(call)}${message ? `: ${message}` : ''}`, increment });
  };
}
