import * as vscode from 'vscode';
import { FolderFiles } from '../assets/readFile.ts';
import { readSettings } from '../chat/frontMatter.ts';
import { nextAction } from '../chat/nextAction.ts';
import { parseChat } from '../chat/parse.ts';
import type { ChatListener } from '../listener.ts';
import type { Connections } from '../mcp/connections.ts';
import { ReferencedFiles } from '../mcp/fileArguments.ts';
import { McpClient } from '../mcpClient.ts';
import { costOf } from '../model/usage.ts';
import type { ChatModel, FileArguments, ModelRequest, RunOutcome, Usage } from '../ports.ts';
import { AssetStores } from './assetStores.ts';
import { AttachmentConsent } from './attachmentConsent.ts';
import { attachFiles, chooseWhereToRun, forkChat, giveTitle } from './chatCommands.ts';
import { watchTyping } from './chatEditors.ts';
import { activeChat, createChat, isChat, selectCall } from './chatFiles.ts';
import { type Fields, readFields, readString, readUri, readUris } from './commandArguments.ts';
import { Conversations } from './conversations.ts';
import { CostItem } from './costItem.ts';
import { EditorModels } from './editorModels.ts';
import { Keys } from './keys.ts';
import { ModelCommands } from './modelCommands.ts';
import { registerPaste } from './pasteImages.ts';
import { placesOf } from './places.ts';
import { plainMessage } from './plainMessage.ts';
import { ChatProblems } from './problems.ts';
import { keepCopy } from './recovery.ts';
import { CHAT_FILES, RunLens } from './runLens.ts';
import { Runs } from './runs.ts';
import { ServerList } from './servers.ts';
import { autoSave, resultLimits, reviewResults, timeoutMs, toolSettings } from './settings.ts';
import { ToolConsent } from './toolConsent.ts';
import { readToolRequest } from './toolRequest.ts';

/** All parts of Filechat in the editor, and what its commands do. Made when a chat is first seen or a command used. */
export class App {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #servers: ServerList;
  readonly #tools: McpClient;
  readonly #consent: ToolConsent;
  readonly #attachments = new AttachmentConsent();
  readonly #models: ModelCommands;
  readonly #prices: EditorModels;
  readonly #cost: CostItem;
  readonly #runs: Runs;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#log = vscode.window.createOutputChannel('Filechat', { log: true });
    const { globalState, globalStorageUri, secrets } = context;
    const samplePath = vscode.Uri.joinPath(context.extensionUri, 'dist', 'sample-server.js').fsPath;
    this.#servers = new ServerList({ memory: globalState, log: this.#log, samplePath });
    this.#tools = new McpClient(() => this.#openConnections(), resultLimits, toolSettings);
    this.#consent = new ToolConsent(globalState, {
      serverPrint: (server) => this.#servers.fingerprint(server),
      listTools: async (server) => (await this.#tools.listTools(server)).tools,
    });
    this.#prices = new EditorModels(new Keys(secrets), this.#log);
    const conversations = new Conversations({
      models: this.#prices,
      tools: this.#tools,
      servers: this.#servers,
      consent: this.#attachments,
      globalStorage: globalStorageUri,
    });
    this.#models = new ModelCommands(this.#prices, conversations);
    const stores = new AssetStores(globalStorageUri, this.#log);
    this.#cost = new CostItem({
      memory: globalState,
      estimate: async (document, signal) =>
        vscode.workspace.isTrusted ? this.#models.estimate(document, signal) : undefined,
    });
    this.#runs = new Runs({
      tools: this.#tools,
      consent: this.#consent,
      log: this.#log,
      assetsFor: (uri) => stores.storeFor(uri),
      filesFor: (uri) => this.#filesFor(uri),
      conversationFor: (uri) => conversations.of(uri),
      mayGoOn,
      reviewResults,
      rescue: (markdown) => void keepCopy(markdown, context),
      onReply: (uri, progress) => this.#cost.runChanged(uri, progress),
      onUsage: (uri, model, used, request) => this.#count(uri, model, { used, request }),
    });
    this.#register(stores);
  }

  #register(stores: AssetStores): void {
    const lens = new RunLens((uri) => this.#runs.isRunning(uri));
    this.#context.subscriptions.push(
      this.#log,
      this.#runs,
      this.#cost,
      this.#models,
      lens,
      new ChatProblems(),
      vscode.languages.registerCodeLensProvider(CHAT_FILES, lens),
      registerPaste({
        storeFor: (uri) => stores.storeFor(uri),
        maxBytes: () => resultLimits().maxAssetBytes,
      }),
      watchTyping({
        isRunning: (uri) => this.#runs.isRunning(uri),
        run: (document) => void this.#runNext(document, (listener) => listener.run()),
      }),
      this.#runs.onDidChange((uri) => {
        lens.refresh();
        if (this.#runs.isRunning(uri)) this.#cost.runStarted(uri);
        else this.#cost.runEnded(uri);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.#runs.showState()),
    );
  }

  async dispose(): Promise<void> {
    this.#runs.dispose();
    await this.#tools.dispose();
  }

  async newChat(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    await createChat(readUri(fields, 'folder'), readString(fields, 'content'));
  }

  async run(argument: unknown): Promise<RunOutcome> {
    const found = await this.#findChat(readFields(argument));
    if (!found) return this.#tell(failed(NO_CHAT));
    if (this.#runs.isRunning(found.uri)) return this.#tell(failed(RUNNING));
    // A script, a button or a lens says which chat; a key means the turn that the cursor is in.
    const document = argument === undefined ? await chooseWhereToRun(found) : found;
    return document ? this.#runNext(document, (listener) => listener.run()) : CANCELLED;
  }

  async resume(argument: unknown): Promise<RunOutcome> {
    const document = await this.#findChat(readFields(argument));
    if (!document) return this.#tell(failed(NO_CHAT));
    return this.#runNext(document, (listener) => listener.resume());
  }

  async compact(argument: unknown): Promise<RunOutcome> {
    const document = await this.#findChat(readFields(argument));
    if (!document) return this.#tell(failed(NO_CHAT));
    return this.#runNext(document, (listener) => listener.compact());
  }

  async stop(argument: unknown): Promise<void> {
    const uri = (await this.#findChat(readFields(argument)))?.uri;
    if (uri) this.#runs.stop(uri);
  }

  async fork(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const document = await this.#findChat(fields);
    if (!document) return void this.#tell(failed(NO_CHAT));
    const cursor = vscode.window.visibleTextEditors.find((each) => each.document === document)?.selection
      .active;
    const line =
      typeof fields['line'] === 'number' ? fields['line'] : (cursor?.line ?? document.lineCount - 1);
    await forkChat(document, document.offsetAt(new vscode.Position(line, 0)));
  }

  async selectModel(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const document = (await this.#findChat(fields)) ?? (await createChat());
    if (document) await this.#models.select(document, readString(fields, 'model'));
  }

  async setApiKey(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const problem = await this.#models.setKey(await this.#findChat(fields), readString(fields, 'model'));
    if (problem !== undefined) this.#tell(failed(problem));
  }

  async showRequest(argument: unknown): Promise<void> {
    const document = await this.#findChat(readFields(argument));
    if (!document) return void this.#tell(failed(NO_CHAT));
    if (!vscode.workspace.isTrusted) return void this.#tell(failed(UNTRUSTED));
    const work = new AbortController();
    const options = { location: vscode.ProgressLocation.Window, title: 'Filechat: making the request' };
    await vscode.window.withProgress(options, async () => {
      try {
        await this.#models.showRequest(document, work.signal);
      } catch (error) {
        this.#tell(failed(error instanceof Error ? error.message : String(error)));
      }
    });
  }

  async attachFile(argument: unknown): Promise<RunOutcome> {
    const fields = readFields(argument);
    const document = await this.#findChat(fields);
    if (!document) return this.#tell(failed(NO_CHAT));
    const files =
      readUris(fields, 'files') ??
      (await vscode.window.showOpenDialog({ canSelectMany: true, title: 'Attach to the Chat' }));
    return files ? this.#tell(await attachFiles(document, files)) : CANCELLED;
  }

  async callTool(argument: unknown): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return this.#tell(failed(UNTRUSTED));
    const fields = readFields(argument);
    const refused = await this.#refusedServer(readString(fields, 'server'));
    if (refused) return this.#tell(refused);
    const request = await readToolRequest(fields, this.#tools, async () => [
      ...(await this.#servers.startable()).keys(),
    ]);
    if (!request) return CANCELLED;
    const document = (await this.#findChat(fields)) ?? (await createChat());
    if (!document) return CANCELLED;
    return this.#conclude(
      document,
      await this.#runs.start(document, (listener) => listener.callTool(request)),
    );
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
    this.#attachments.forget();
    void vscode.window.showInformationMessage('Every server of a workspace and every tool will ask again.');
  }

  showLog(): void {
    this.#log.show();
  }

  async #runNext(
    document: vscode.TextDocument,
    work: (listener: ChatListener) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return this.#tell(failed(UNTRUSTED));
    const refused = await this.#askForServers(document.getText());
    if (refused) return this.#tell(refused);
    return this.#conclude(document, await this.#runs.start(document, work));
  }

  /** What is left to do when a run has ended. */
  async #conclude(document: vscode.TextDocument, outcome: RunOutcome): Promise<RunOutcome> {
    if (outcome.edit !== undefined) await selectCall(document, outcome.edit);
    if (outcome.ok) await giveTitle(document);
    if (autoSave() && document.isDirty && !document.isUntitled && !outcome.lost) await document.save();
    return this.#tell(outcome, document);
  }

  /** A call needs its server. A reply needs none: what the user does not agree to is left out. */
  async #askForServers(text: string): Promise<RunOutcome | undefined> {
    const action = nextAction(text);
    if (action.kind === 'reply' || action.kind === 'resume') {
      const named = readSettings(parseChat(text)).settings.servers ?? [undefined];
      for (const server of named) {
        const ask = this.#servers.askForWorkspaceServers(server);
        await ask.catch((error: unknown) => this.#log.warn(String(error)));
      }
    }
    if (action.kind !== 'runTools') return undefined;
    for (const server of new Set(action.calls.map((call) => call.server))) {
      const refused = await this.#refusedServer(server);
      if (refused) return refused;
    }
    return undefined;
  }

  /** Asks about the workspace's servers; without a name about all of them, of which some may be declined. */
  async #refusedServer(server: string | undefined): Promise<RunOutcome | undefined> {
    const consent = await this.#servers.askForWorkspaceServers(server);
    if (consent === 'cancelled') return CANCELLED;
    return consent === 'given'
      ? undefined
      : failed(`The server “${server}” is not allowed in this workspace.`);
  }

  #count(uri: vscode.Uri, model: ChatModel, { used, request }: { used: Usage; request: ModelRequest }): void {
    this.#models.learn(used, request);
    const dollars = costOf(used, this.#prices.priceOf(model.name));
    void this.#cost.addTurn(uri, { model: model.name, usage: used, dollars });
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
      servers: () => this.#servers.startable(),
      log: this.#log,
      timeoutMs,
      clientInfo: { name: 'filechat', version: String(this.#context.extension.packageJSON.version) },
    });
  }

  #filesFor(uri: vscode.Uri): FileArguments {
    const places = placesOf(uri, this.#context.globalStorageUri);
    return new ReferencedFiles(new FolderFiles({ ...places, limits: resultLimits }));
  }

  /** Tells what failed, in plain words; what the user called off needs no telling. */
  #tell(outcome: RunOutcome, document?: vscode.TextDocument): RunOutcome {
    if (!outcome.ok && !outcome.cancelled && !outcome.lost) void this.#warn(outcome, document);
    return outcome;
  }

  async #warn({ error, resumable }: RunOutcome, document: vscode.TextDocument | undefined): Promise<void> {
    const buttons = resumable && document ? [RESUME] : [];
    const answer = await vscode.window.showWarningMessage(plainMessage(error ?? 'It failed.'), ...buttons);
    if (answer === RESUME && document) await this.resume({ uri: document.uri });
  }
}

const RESUME = 'Resume';
const RUNNING = 'This chat is running already. Stop it first, or wait.';
const NO_CHAT = 'Open a chat first: a file whose name ends in .chat.md.';
const UNTRUSTED =
  'This workspace is not trusted, so nothing is run. Trust it first: “Workspaces: Manage Workspace Trust”.';
const UNTRUSTED_FILES = 'This workspace is not trusted, so its files are left alone.';
const CANCELLED: RunOutcome = { ok: false, error: 'Nothing was chosen.', cancelled: true, assets: [] };

async function mayGoOn(steps: number): Promise<boolean> {
  const goOn = 'Go On';
  const question = `The model has taken ${steps} steps in a row. Let it go on?`;
  return (await vscode.window.showInformationMessage(question, { modal: true }, goOn)) === goOn;
}

function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

/** The folder that a chat lies in, if it is saved. */
function folderOf(chat: vscode.Uri | undefined): vscode.Uri | undefined {
  return chat && chat.scheme !== 'untitled' ? vscode.Uri.joinPath(chat, '..') : undefined;
}
