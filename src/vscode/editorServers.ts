import * as vscode from 'vscode';
import type { ServerConfig } from '../mcp/config.ts';
import type { Connections } from '../mcp/connections.ts';
import { type AppResult, McpClient } from '../mcpClient.ts';
import type { ChatModel, Log, ToolCall, ToolHost, ToolInfo } from '../ports.ts';
import type { AppPanels } from './apps/appPanel.ts';
import { auditedRequests, auditStarts } from './auditedRequests.ts';
import { AuditLog } from './auditLog.ts';
import { withEditorTools } from './editorTools.ts';
import { ServerInputs } from './inputs.ts';
import { ResourceDocuments } from './resourceDocuments.ts';
import { ServerCommands } from './serverCommands.ts';
import { ServerLogs } from './serverLogs.ts';
import { editorRequests } from './serverRequests.ts';
import { ServerRows } from './serverRows.ts';
import { ServerStatus } from './serverStatus.ts';
import { ServerList } from './servers.ts';
import { ServersView } from './serversView.ts';
import { clientMetadata, resultLimits, showsApps, timeoutMs, toolSettings } from './settings.ts';
import { SignInBrowser } from './signInBrowser.ts';
import { withSwitches } from './toolSwitches.ts';
import { VerdictMemory } from './verdictMemory.ts';

export interface EditorServersParts {
  readonly context: vscode.ExtensionContext;
  readonly log: Log;
  /** The model of a chat, by its address; of no chat, the one that new chats have. */
  readonly modelFor: (chat: string | undefined) => Promise<ChatModel>;
  readonly mayCall: (call: ToolCall, tool: ToolInfo) => Promise<boolean>;
  readonly addToChat: (chat: vscode.Uri, text: string) => Promise<void>;
}

/** The MCP servers in the editor: which there are, what they offer, and all that shows them. */
export class EditorServers implements vscode.Disposable {
  readonly list: ServerList;
  readonly inputs: ServerInputs;
  readonly client: McpClient;
  /** What chats may call. */
  readonly tools: ToolHost;
  readonly view: ServersView;
  readonly commands: ServerCommands;
  readonly audit: AuditLog;
  readonly #parts: EditorServersParts;
  readonly #logs = new ServerLogs();
  readonly #signIn: SignInBrowser;
  readonly #disposables: vscode.Disposable[];
  #apps: Promise<AppPanels> | undefined;

  constructor(parts: EditorServersParts) {
    this.#parts = parts;
    const { context, log } = parts;
    const { globalState, globalStorageUri, secrets, extensionUri } = context;
    const samplePath = vscode.Uri.joinPath(extensionUri, 'dist', 'sample-server.js').fsPath;
    this.inputs = new ServerInputs(secrets);
    this.list = new ServerList({ memory: globalState, log, samplePath, inputs: this.inputs });
    this.audit = new AuditLog({ folder: globalStorageUri, log });
    this.client = new McpClient(() => this.#openConnections(), {
      limits: resultLimits,
      settings: toolSettings,
      onAppResult: (app) => void this.#showApp(app),
    });
    this.tools = withSwitches(withEditorTools(this.client));
    this.#signIn = new SignInBrowser(context.extension.id);
    const rows = new ServerRows(this.client, this.list);
    this.view = new ServersView({ host: this.client, rows });
    const documents = new ResourceDocuments(this.client, vscode.Uri.joinPath(globalStorageUri, 'resources'));
    this.commands = new ServerCommands({
      host: this.client,
      rows,
      logs: this.#logs,
      agree: (server) => this.list.agree(server),
      openResource: (resource) => documents.open(resource),
      signOut: (server) => this.client.signOut(server),
    });
    this.#disposables = [
      this.list,
      rows,
      this.view,
      documents,
      new ServerStatus(rows),
      this.#logs,
      this.#signIn,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.client.rootsChanged()),
      auditStarts(this.client, this.audit),
    ];
  }

  dispose(): void {
    for (const each of this.#disposables) each.dispose();
    void this.#apps?.then((apps) => apps.dispose());
  }

  /** Resolves when no server is left. */
  async close(): Promise<void> {
    await this.client.dispose();
    await this.audit.flush();
  }

  /** Shows the app of the call at the cursor. */
  async openApp(document: vscode.TextDocument, position: vscode.Position): Promise<void> {
    await (await this.#appPanels()).openFromChat(document, position);
  }

  async #showApp({ chat, call, tool, result }: AppResult): Promise<void> {
    if (!showsApps() || chat === undefined) return;
    try {
      await (await this.#appPanels()).show(vscode.Uri.parse(chat, true), call, tool, result);
    } catch (error) {
      this.#parts.log.warn(`The app of ${tool.server}.${tool.tool} is not shown: ${String(error)}`);
    }
  }

  #appPanels(): Promise<AppPanels> {
    const { context, mayCall, addToChat } = this.#parts;
    this.#apps ??= import('./apps/appPanel.ts').then(
      ({ AppPanels }) =>
        new AppPanels({
          extensionUri: context.extensionUri,
          globalStorage: context.globalStorageUri,
          version: versionOf(context),
          host: this.client,
          mayCall,
          addToChat,
          log: (server) => this.#logs.logFor(server),
          isLocal: async (server) => isLocal((await this.list.startable()).get(server)),
        }),
    );
    return this.#apps;
  }

  /** The SDK is large; New Chat should not wait for it. */
  async #openConnections(): Promise<Connections> {
    const { context, log, modelFor } = this.#parts;
    const [{ Connections }, { RemoteAuthorization }] = await Promise.all([
      import('../mcp/connections.ts'),
      import('../mcp/oauth/authorization.ts'),
    ]);
    const serverPrint = (server: string) => this.list.fingerprint(server);
    return new Connections({
      servers: () => this.list.startable(),
      log,
      logFor: (server) => this.#logs.logFor(server),
      timeoutMs,
      clientInfo: { name: 'filechat', title: 'Filechat', version: versionOf(context) },
      requests: auditedRequests(editorRequests({ modelFor, serverPrint }), this.audit),
      apps: showsApps(),
      verdicts: new VerdictMemory(context.globalState),
      resolve: (server, config) => this.list.resolve(server, config),
      authorize: (config, server, onAsk) =>
        new RemoteAuthorization({
          server,
          serverUrl: config.url,
          store: secretStore(context.secrets),
          browser: this.#signIn,
          settings: { ...clientMetadata(), ...config.oauth },
          onAsk,
        }),
    });
  }
}

function versionOf({ extension }: vscode.ExtensionContext): string {
  return String(extension.packageJSON.version);
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function isLocal(config: ServerConfig | undefined): boolean {
  if (config === undefined) return false;
  return config.kind === 'stdio' || LOOPBACK.test(new URL(config.url).hostname);
}

function secretStore(secrets: vscode.SecretStorage) {
  return {
    get: async (key: string) => secrets.get(key),
    set: async (key: string, value: string) => secrets.store(key, value),
    delete: async (key: string) => secrets.delete(key),
  };
}
