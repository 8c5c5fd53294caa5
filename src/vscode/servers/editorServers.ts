import * as vscode from 'vscode';
import { isLoopback } from '../../base/addresses.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import { AlwaysAllowedServers } from '../../mcp/requests/requestLimit.ts';
import { type AppResult, type AppSink, type ClientOptions, McpClient } from '../../mcpClient.ts';
import type { Log } from '../../ports/document.ts';
import type { ChatModel, ChatRules } from '../../ports/models.ts';
import type { ResourceName } from '../../ports/servers.ts';
import type { Consent, ToolHost } from '../../ports/tools.ts';
import type { AppPanels } from '../apps/panel.ts';
import { AuditLog } from '../consent/audit.ts';
import { audited, auditStarts } from '../consent/audited.ts';
import { editorRequests } from '../consent/serverRequests.ts';
import { SignInBrowser } from '../consent/signIn.ts';
import { registerAll } from '../registration.ts';
import {
  clientMetadata,
  maxParallelCalls,
  resultLimits,
  showsApps,
  timeoutMs,
  toolSettings,
} from '../settings.ts';
import { BuiltIns } from '../tools/builtIns.ts';
import { LastArguments } from '../tools/lastArguments.ts';
import { chatTools, isEnabled } from '../tools/switches.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { ServerInputs } from './inputs.ts';
import { forgetCredentials, rememberedProtocols, secretCredentials } from './memory.ts';
import { RESOURCE_SCHEME, ResourceDocuments } from './resourceDocuments.ts';
import { ServerRows } from './rows.ts';
import { ServerList } from './serverList.ts';
import { ServersView, showServerStatus } from './view.ts';

interface EditorServersDeps {
  readonly context: vscode.ExtensionContext;
  readonly log: Log;
  /** By the URI of a chat; undefined gives the default model. */
  readonly modelFor: (chat: string | undefined) => Promise<ChatModel>;
  readonly rulesFor: (chat: string) => Promise<ChatRules>;
  readonly mayCall: Consent['mayCall'];
  readonly addToChat: (chat: vscode.Uri, text: string) => Promise<void>;
}

/** The MCP servers in the editor, and the views for them. */
export class EditorServers implements vscode.Disposable {
  readonly list: ServerList;
  readonly inputs: ServerInputs;
  readonly client: McpClient;
  readonly builtIns: BuiltIns;
  readonly tools: ToolHost;
  readonly rows: ServerRows;
  readonly view: ServersView;
  readonly audit: AuditLog;
  readonly lastArguments: LastArguments;
  readonly logs = new ServerLogs();
  readonly #deps: EditorServersDeps;
  readonly #always = new AlwaysAllowedServers();
  readonly #sink: AppSink = {
    isLocal: async (server) => isLocal((await this.list.startable()).get(server)),
    show: (app) => void this.#showApp(app),
  };
  readonly #signIn: SignInBrowser;
  readonly #documents: ResourceDocuments;
  readonly #disposables: vscode.Disposable[];
  #apps: Promise<AppPanels> | undefined;

  constructor(deps: EditorServersDeps) {
    this.#deps = deps;
    const { context, log } = deps;
    const { globalState, workspaceState, globalStorageUri, secrets, extensionUri } = context;
    const samplePath = vscode.Uri.joinPath(extensionUri, 'dist', 'sample-server.js').fsPath;
    this.inputs = new ServerInputs(secrets);
    this.list = new ServerList({
      memory: globalState,
      log,
      samplePath,
      inputs: this.inputs,
      globalStorage: globalStorageUri,
    });
    this.audit = new AuditLog({ folder: globalStorageUri });
    this.lastArguments = new LastArguments(workspaceState, (server) => this.list.fingerprint(server));
    this.#signIn = new SignInBrowser(context.extension.id);
    this.client = new McpClient(this.#clientOptions());
    this.builtIns = new BuiltIns(this.list, globalStorageUri);
    this.tools = chatTools(this.client, this.builtIns);
    this.rows = new ServerRows(this.client, this.list);
    this.view = new ServersView(this.client, this.rows);
    const documents = new ResourceDocuments(this.client, vscode.Uri.joinPath(globalStorageUri, 'resources'));
    this.#documents = documents;
    this.#disposables = [
      this.list,
      this.rows,
      this.view,
      documents,
      registerAll({ [RESOURCE_SCHEME]: () => documents.register() }, globalState),
      showServerStatus(this.rows),
      this.logs,
      this.#signIn,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.client.rootsChanged()),
      auditStarts(this.client, this.audit),
      this.list.onDidChange(() => void this.#settle()),
    ];
  }

  dispose(): void {
    for (const each of this.#disposables) each.dispose();
    void this.#apps?.then((apps) => apps.dispose());
  }

  async close(): Promise<void> {
    await this.client.dispose();
    await this.audit.flush();
  }

  /** Deletes permissions, inputs, sign-ins and the last arguments of tools, and stops the servers that now lack permission. */
  async forget(): Promise<void> {
    await forgetCredentials(this.#deps.context.secrets);
    await this.inputs.forget();
    await this.lastArguments.forget();
    this.#always.clear();
    await this.list.forget();
    await this.client.settle();
  }

  async openApp(...place: Parameters<AppPanels['openFromChat']>): Promise<void> {
    await (await this.#appPanels()).openFromChat(...place);
  }

  async openResource(resource: ResourceName, signal: AbortSignal): Promise<void> {
    const entry = { kind: 'resource', server: resource.server, name: resource.uri } as const;
    await audited(this.audit, entry, (note) => {
      // The user ran the command that names the resource.
      note({ consent: 'asked' });
      return this.#documents.open(resource, signal);
    });
  }

  async #settle(): Promise<void> {
    try {
      await this.client.settle();
    } catch (error) {
      this.#deps.log.warn(`Could not apply the changed settings to running servers: ${String(error)}`);
    }
  }

  async #showApp({ chat, ...shown }: AppResult): Promise<void> {
    if (chat === undefined) return;
    const { tool } = shown;
    try {
      (await this.#appPanels()).show(vscode.Uri.parse(chat, true), shown);
    } catch (error) {
      this.#deps.log.warn(`Could not show the app of ${tool.server}.${tool.tool}: ${String(error)}`);
    }
  }

  #appPanels(): Promise<AppPanels> {
    const { context, rulesFor, mayCall, addToChat } = this.#deps;
    this.#apps ??= import('../apps/panel.ts').then(
      ({ AppPanels }) =>
        new AppPanels({
          extensionUri: context.extensionUri,
          globalStorage: context.globalStorageUri,
          version: versionOf(context),
          host: this.client,
          rulesFor,
          isSwitchedOff: (tool) => !isEnabled(tool),
          consent: { mayCall },
          audit: this.audit,
          addToChat,
          log: (server) => this.logs.logFor(server),
          isLocal: (server) => this.#sink.isLocal(server),
        }),
    );
    return this.#apps;
  }

  #clientOptions(): ClientOptions {
    const { context, log, modelFor } = this.#deps;
    const serverFingerprint = (server: string) => this.list.fingerprint(server);
    return {
      limits: resultLimits,
      settings: toolSettings,
      servers: () => this.list.startable(),
      log,
      logFor: (server) => this.logs.logFor(server),
      timeoutMs,
      maxParallelCalls,
      clientInfo: { name: 'filechat', title: 'Filechat', version: versionOf(context) },
      requests: editorRequests(this.audit, { modelFor, serverFingerprint, always: this.#always }),
      apps: () => (showsApps() ? this.#sink : undefined),
      knownProtocols: rememberedProtocols(context.globalState),
      resolve: (server, config) => this.list.resolve(server, config),
      authorize: async (config, server, onAsk) => {
        const { RemoteAuthorization } = await import('../../mcp/oauth/authorization.ts');
        return new RemoteAuthorization({
          server,
          serverUrl: config.url,
          store: secretCredentials(context.secrets),
          browser: this.#signIn,
          settings: { ...clientMetadata(), ...config.oauth },
          onAsk,
        });
      },
    };
  }
}

function versionOf({ extension }: vscode.ExtensionContext): string {
  return String(extension.packageJSON.version);
}

function isLocal(config: ServerConfig | undefined): boolean {
  if (config === undefined) return false;
  return config.kind === 'stdio' || isLoopback(new URL(config.url));
}

const MAX_MESSAGE_CHARS = 10_000;

/** One output channel per server, created with its first message. */
class ServerLogs implements vscode.Disposable {
  readonly #channels = new Map<string, vscode.LogOutputChannel>();

  dispose(): void {
    for (const channel of this.#channels.values()) channel.dispose();
    this.#channels.clear();
  }

  logFor(server: string): Log {
    const channel = () => this.#channel(server);
    return {
      // As info, because the channel hides debug messages, which a server sends only when they were requested.
      debug: (message) => channel().info(`[debug] ${readable(message)}`),
      info: (message) => channel().info(readable(message)),
      warn: (message) => channel().warn(readable(message)),
      error: (message) => channel().error(readable(message)),
    };
  }

  show(server: string): void {
    this.#channel(server).show();
  }

  #channel(server: string): vscode.LogOutputChannel {
    const known = this.#channels.get(server);
    if (known) return known;
    const channel = vscode.window.createOutputChannel(`Filechat: ${plainMessage(server)}`, { log: true });
    this.#channels.set(server, channel);
    return channel;
  }
}

function readable(message: string): string {
  const cut =
    message.length > MAX_MESSAGE_CHARS
      ? `${message.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}… (${message.length.toLocaleString('en')} characters)`
      : message;
  return showInvisible(cut);
}
