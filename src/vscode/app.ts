import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { FolderFiles } from '../assets/readFile.ts';
import { nextAction } from '../chat/nextAction.ts';
import { renderToolName } from '../chat/toolCall.ts';
import type { ToolRequest } from '../listener.ts';
import { missingArguments } from '../mcp/arguments.ts';
import type { Connections } from '../mcp/connections.ts';
import { ReferencedFiles } from '../mcp/fileArguments.ts';
import { McpClient } from '../mcpClient.ts';
import type { FileArguments, RunOutcome, ToolInfo } from '../ports.ts';
import { askArguments } from './askArguments.ts';
import { AssetStores } from './assetStores.ts';
import { activeChat, createChat, isChat } from './chatFiles.ts';
import { type Fields, readFields, readObject, readString, readUri } from './commandArguments.ts';
import { pickTool } from './pickTool.ts';
import { plainMessage } from './plainMessage.ts';
import { Runs } from './runs.ts';
import { ServerList } from './servers.ts';
import { resultLimits, timeoutMs, toolSettings } from './settings.ts';
import { ToolConsent } from './toolConsent.ts';

/** All parts of Filechat in the editor, and what its commands do. Made when the first command is used. */
export class App {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #servers: ServerList;
  readonly #tools: McpClient;
  readonly #consent: ToolConsent;
  readonly #runs: Runs;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#log = vscode.window.createOutputChannel('Filechat', { log: true });
    this.#servers = new ServerList(context.globalState, this.#log);
    this.#tools = new McpClient(() => this.#openConnections(), resultLimits, toolSettings);
    this.#consent = new ToolConsent(context.globalState, (server) => this.#servers.fingerprint(server));
    const stores = new AssetStores(context.globalStorageUri, this.#log);
    this.#runs = new Runs({
      tools: this.#tools,
      consent: this.#consent,
      log: this.#log,
      assetsFor: (uri) => stores.storeFor(uri),
      filesFor: (uri) => this.#filesFor(uri),
    });
    context.subscriptions.push(
      this.#log,
      vscode.window.onDidChangeActiveTextEditor(() => this.#runs.showState()),
    );
  }

  async dispose(): Promise<void> {
    this.#runs.stopAll();
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
    const servers = new Set(action.kind === 'runTools' ? action.calls.map(({ server }) => server) : []);
    for (const server of servers) {
      const refused = await this.#refusedServer(server);
      if (refused) return this.#tell(refused);
    }
    return this.#tell(await this.#runs.start(document, 'running the chat', (listener) => listener.run()));
  }

  async stop(argument: unknown): Promise<void> {
    const uri = (await this.#findChat(readFields(argument)))?.uri;
    if (uri) this.#runs.stop(uri);
  }

  async callTool(argument: unknown): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return this.#tell(failed(UNTRUSTED));
    const fields = readFields(argument);
    const refused = await this.#refusedServer(readString(fields, 'server'));
    if (refused) return this.#tell(refused);
    const request = await this.#readRequest(fields);
    if (!request) return CANCELLED;
    const document = (await this.#findChat(fields)) ?? (await createChat());
    if (!document) return CANCELLED;
    const title = renderToolName(request);
    return this.#tell(await this.#runs.start(document, title, (listener) => listener.callTool(request)));
  }

  async cleanUpAssets(argument: unknown): Promise<RunOutcome> {
    const fields = readFields(argument);
    const folder = readUri(fields, 'folder') ?? folderOf((await this.#findChat(fields))?.uri);
    if (!folder) return this.#tell(failed('Open a saved chat first: its folder is the one to clean up.'));
    if (!vscode.workspace.isTrusted) return this.#tell(failed(UNTRUSTED_FILES));
    const { cleanUpAssets } = await import('./cleanUpAssets.ts');
    try {
      return await cleanUpAssets({ folder, isRunning: () => this.#runs.isRunningIn(folder) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return this.#tell(failed(`No asset was touched. ${reason}`));
    }
  }

  async forgetPermissions(): Promise<void> {
    await this.#servers.forget();
    await this.#consent.forget();
    void vscode.window.showInformationMessage('Every server of a workspace and every tool will ask again.');
  }

  /** Asks about the workspace's servers; without a name about all of them, of which some may be declined. */
  async #refusedServer(server: string | undefined): Promise<RunOutcome | undefined> {
    const consent = await this.#servers.askForWorkspaceServers(server);
    if (consent === 'cancelled') return CANCELLED;
    return consent === 'given'
      ? undefined
      : failed(`The server “${server}” is not allowed in this workspace.`);
  }

  /** What to call: as the caller says, and the rest as the user picks it. */
  async #readRequest(fields: Fields): Promise<ToolRequest | undefined> {
    const server = readString(fields, 'server');
    const tool = readString(fields, 'tool');
    const given = readObject(fields, 'arguments') ?? {};
    const named = server !== undefined && tool !== undefined ? { server, tool, arguments: given } : undefined;
    const info = named ? await this.#findTool(named) : await pickTool(await this.#listTools(server));
    // A tool that nobody knows is told where all such things are told: by the turn loop.
    if (!info || (named && missingArguments(info.inputSchema, given).length === 0)) return named;
    const args = await askArguments(info, given);
    return args && { server: info.server, tool: info.tool, arguments: args };
  }

  async #findTool({ server, tool }: ToolRequest): Promise<ToolInfo | undefined> {
    const { tools } = await this.#tools.listTools(server);
    return tools.find((each) => each.tool === tool);
  }

  async #listTools(server: string | undefined) {
    const servers = server === undefined ? [...(await this.#servers.allowed()).keys()] : [server];
    return servers.map((each) => this.#tools.listTools(each));
  }

  async #findChat(fields: Fields): Promise<vscode.TextDocument | undefined> {
    const uri = readUri(fields, 'uri');
    if (!uri) return activeChat();
    if (!isChat(uri)) throw new TypeError(`${uri.path} is not a chat: its name must end in .chat.md.`);
    return vscode.workspace.openTextDocument(uri);
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

  /** `file:` reaches the folders of the workspace; without one, the folder of the chat. */
  #filesFor(uri: vscode.Uri): FileArguments {
    const saved = uri.scheme === 'file';
    const open = (vscode.workspace.workspaceFolders ?? []).flatMap((each) =>
      each.uri.scheme === 'file' ? [each.uri.fsPath] : [],
    );
    const storage = this.#context.globalStorageUri.fsPath;
    const folder = saved ? dirname(uri.fsPath) : (open[0] ?? storage);
    const roots = open.length > 0 || !saved ? open : [folder];
    return new ReferencedFiles(
      new FolderFiles({ folder, assetsIn: saved ? folder : storage, roots, limits: resultLimits }),
    );
  }

  /** Tells what failed, in plain words; what the user called off needs no telling. */
  #tell(outcome: RunOutcome): RunOutcome {
    if (!outcome.ok && !outcome.cancelled) {
      void vscode.window.showWarningMessage(plainMessage(outcome.error ?? 'It failed.'));
    }
    return outcome;
  }
}

const UNTRUSTED =
  'This workspace is not trusted, so no tool is called. Trust it first: “Workspaces: Manage Workspace Trust”.';
const UNTRUSTED_FILES = 'This workspace is not trusted, so its files are left alone.';
const CANCELLED: RunOutcome = { ok: false, error: 'Nothing was chosen.', cancelled: true, assets: [] };

function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

/** The folder that a chat lies in, if it is saved. */
function folderOf(chat: vscode.Uri | undefined): vscode.Uri | undefined {
  return chat && chat.scheme !== 'untitled' ? vscode.Uri.joinPath(chat, '..') : undefined;
}
