import * as vscode from 'vscode';
import { chatFiles } from '../assets/chatFiles.ts';
import { messageOf } from '../base/errors.ts';
import { readSettings } from '../chat/format/frontMatter.ts';
import { needsModel, nextAction } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import { ReferencedFiles } from '../mcp/fileArguments/referencedFiles.ts';
import { costOf } from '../model/config/prices.ts';
import type { RunOutcome } from '../ports/document.ts';
import type { ChatModel, ChatRules, ModelRequest, Usage } from '../ports/models.ts';
import { showBreakdown } from './annotations/breakdown.ts';
import { showGhostText } from './annotations/ghostText.ts';
import { registerReferences } from './annotations/hovers.ts';
import { showLinkMarks } from './annotations/linkMarks.ts';
import { registerTurns } from './annotations/turns.ts';
import { hideWritingMark } from './annotations/writingMark.ts';
import { attachAddressTo, registerAddressActions } from './chat/attachAddress.ts';
import { addToChat, attachFiles, chooseWhereToRun, forkChat, keepCopy } from './chat/chatCommands.ts';
import { chatOf, findChat, placesOf, readChat, withChat } from './chat/chatFiles.ts';
import { moveAssetsOnSave } from './chat/firstSave.ts';
import { ChatNaming } from './chat/naming.ts';
import { registerPaste } from './chat/paste.ts';
import { followRenames } from './chat/renames.ts';
import { assetStores, type StoreFor } from './chat/stores.ts';
import { watchProblems, watchTyping } from './chat/watch.ts';
import { Chats } from './chats/chats.ts';
import { registerCompletion } from './completion/completion.ts';
import { AttachmentConsent } from './consent/attachments.ts';
import { CallAnswers } from './consent/callAnswers.ts';
import { CallQuestions } from './consent/callQuestions.ts';
import { showQuestions } from './consent/questionViews.ts';
import { TOOL_SCHEME, ToolChanges } from './consent/toolChanges.ts';
import { ToolConsent } from './consent/toolConsent.ts';
import { Gallery } from './gallery/gallery.ts';
import { EditorModels } from './model/editorModels.ts';
import { ModelCommands } from './model/modelCommands.ts';
import { registerAll } from './registration.ts';
import { Conversations } from './run/conversations.ts';
import { CostItem, showRunFigures } from './run/costItem.ts';
import { registerLenses } from './run/lenses.ts';
import { showMenu } from './run/menu.ts';
import { Runs, type Work } from './run/runs.ts';
import { askForMessage, editArguments, offsetFor, regenerate, retry } from './run/turnCommands.ts';
import { EditorServers } from './servers/editorServers.ts';
import { KnownServers } from './servers/known.ts';
import { ServerCommands } from './servers/serverCommands.ts';
import { defaultModel, resultLimits } from './settings.ts';
import { readFields, readUri, readUris } from './ui/commandArguments.ts';
import { CANCELLED, failed, tell, UNTRUSTED, useLog } from './ui/outcomes.ts';
import { withNotice } from './ui/progress.ts';
import { useTranslation } from './ui/words.ts';

/** Builds and wires all features. Created when a chat is first shown or a command is first used. */
export class App {
  readonly servers: EditorServers;
  readonly serverCommands: ServerCommands;
  readonly modelCommands: ModelCommands;
  readonly chats: Chats;
  readonly gallery: Gallery;
  readonly editArguments = editArguments;
  readonly questions = new CallQuestions();
  readonly answers: CallAnswers;
  readonly log = vscode.window.createOutputChannel('Filechat', { log: true });
  readonly #context: vscode.ExtensionContext;
  readonly #consent: ToolConsent;
  readonly #attachments = new AttachmentConsent();
  readonly #conversations: Conversations;
  readonly #models: EditorModels;
  readonly #cost: CostItem;
  readonly #naming: ChatNaming;
  readonly #storeFor: StoreFor;
  readonly #runs: Runs;

  constructor(context: vscode.ExtensionContext) {
    useTranslation(vscode.l10n.t, vscode.env.language);
    useLog(this.log);
    this.#context = context;
    const { globalState, globalStorageUri } = context;
    this.#models = new EditorModels(context, this.log);
    this.servers = new EditorServers({
      context,
      log: this.log,
      modelFor: (chat) => this.#modelFor(chat),
      rulesFor: (chat) => this.#rulesFor(chat),
      mayCall: (call, tool, about) => this.#consent.mayCall(call, tool, about),
      addToChat,
    });
    const { list, tools } = this.servers;
    const changes = new ToolChanges();
    this.answers = new CallAnswers(this.questions, changes);
    context.subscriptions.push(registerAll({ [TOOL_SCHEME]: () => changes.register() }, globalState));
    this.#consent = new ToolConsent(globalState, {
      questions: this.questions,
      changes,
      serverFingerprint: (server) => list.fingerprint(server),
      listTools: async (server) => (await tools.listTools(server)).tools,
    });
    this.#conversations = new Conversations({
      models: this.#models,
      servers: this.servers,
      consent: this.#attachments,
      globalStorage: globalStorageUri,
    });
    this.modelCommands = new ModelCommands(this.#models, this.#conversations);
    this.#storeFor = assetStores(globalStorageUri, this.log);
    this.#naming = new ChatNaming(context.workspaceState);
    this.#runs = this.#createRuns();
    this.#cost = new CostItem({
      runs: this.#runs,
      memory: globalState,
      modelOf: (document) => this.#modelOf(document),
      estimate: async (document, signal) =>
        vscode.workspace.isTrusted ? this.modelCommands.estimate(document, signal) : undefined,
    });
    this.serverCommands = new ServerCommands(this.servers, this.#runs);
    this.chats = new Chats({
      context,
      runs: this.#runs,
      naming: this.#naming,
      offerSample: () => list.offerSample(),
    });
    this.gallery = new Gallery(context);
    this.#register();
  }

  #createRuns(): Runs {
    const { client, tools, audit } = this.servers;
    const { globalStorageUri } = this.#context;
    return new Runs({
      tools,
      servers: client,
      audit,
      consent: { asksTogether: true, mayCall: (...call) => this.#consent.mayCall(...call) },
      log: this.log,
      assetsFor: this.#storeFor,
      filesFor: (uri) =>
        new ReferencedFiles(chatFiles({ ...placesOf(uri, globalStorageUri), limits: resultLimits })),
      conversationFor: (uri) => this.#conversations.of(uri),
      rescue: (markdown) => void keepCopy(markdown, this.#context),
      nameChat: (document, isUntouched) => this.#naming.name(document, isUntouched),
      onUsage: (uri, model, used, request) => this.#count(uri, model, { used, request }),
    });
  }

  #register(): void {
    const { builtIns, client, rows } = this.servers;
    const known = new KnownServers(client, () => builtIns.tools());
    this.#context.subscriptions.push(
      this.log,
      this.#runs,
      this.#cost,
      this.#naming,
      followRenames(),
      showRunFigures(this.#runs),
      showGhostText(this.#runs),
      this.modelCommands,
      this.servers,
      this.chats,
      this.gallery,
      showLinkMarks(this.#conversations, this.#models),
      known,
      registerTurns(this.#runs),
      hideWritingMark(),
      registerCompletion({ servers: client, known, rows, models: this.#models }),
      registerReferences(known, this.#context),
      this.questions,
      showQuestions(this.questions),
      registerLenses({
        runs: this.#runs,
        questions: this.questions,
        modelOf: (document) => this.#modelOf(document),
      }),
      watchProblems(),
      registerPaste(this.#storeFor),
      registerAddressActions(),
      moveAssetsOnSave({
        storeFor: this.#storeFor,
        globalStorage: this.#context.globalStorageUri,
        log: this.log,
      }),
      watchTyping(this.#runs, (document) => void this.#run(document)),
    );
  }

  async dispose(): Promise<void> {
    this.#runs.dispose();
    await this.servers.close();
  }

  run(argument: unknown): Promise<RunOutcome> {
    const run = async (chat: vscode.TextDocument) => {
      // A script, a button or a lens names the chat; a key runs the turn at the cursor.
      const document = argument === undefined ? await chooseWhereToRun(chat) : chat;
      return document ? (askForMessage(document) ?? this.#run(document)) : CANCELLED;
    };
    // Trust is checked before the question where to run.
    return withChat(argument, run, { trust: true, idleIn: this.#runs });
  }

  regenerate(argument: unknown): Promise<RunOutcome> {
    return regenerate(argument, this.#runs, (document, again) => this.#run(document, again));
  }

  retry(argument: unknown): Promise<RunOutcome> {
    return retry(argument, this.#runs, this.#storeFor);
  }

  showBreakdown(argument: unknown): Promise<void> {
    return showBreakdown(argument, { conversations: this.#conversations, modelCommands: this.modelCommands });
  }

  async showMenu(argument: unknown): Promise<void> {
    await showMenu(await findChat(readFields(argument)), this.#cost);
  }

  resume(argument: unknown): Promise<RunOutcome> {
    return withChat(argument, (document) => this.#runNext(document, (listener) => listener.resume()));
  }

  compact(argument: unknown): Promise<RunOutcome> {
    return withChat(argument, async (document) => {
      const unprepared = await this.#prepareModel(document);
      if (unprepared) return unprepared;
      // A summary is not shown before it is complete, so a notification shows the progress.
      const outcome = await withNotice(vscode.l10n.t('Summarizing the chat'), (signal) => {
        signal.addEventListener('abort', () => this.#runs.stop(document.uri), { once: true });
        const again = { title: '', command: 'filechat.compact', arguments: [{ uri: document.uri }] };
        return this.#runNext(document, (listener) => listener.compact(), again);
      });
      return outcome ?? CANCELLED;
    });
  }

  async stop(argument: unknown): Promise<void> {
    const uri = (await findChat(readFields(argument)))?.uri;
    if (uri) this.#runs.stop(uri);
  }

  async fork(argument: unknown): Promise<void> {
    await withChat(argument, (document, fields) => forkChat(document, offsetFor(document, fields)));
  }

  attachFile(argument: unknown): Promise<RunOutcome> {
    return withChat(argument, async (document, fields) => {
      const title = vscode.l10n.t('Attach to Chat');
      const files =
        readUris(fields, 'files') ?? (await vscode.window.showOpenDialog({ canSelectMany: true, title }));
      return files ? tell(await attachFiles(document, files)) : CANCELLED;
    });
  }

  attachAddress(argument: unknown): Promise<RunOutcome> {
    return attachAddressTo(argument, { storeFor: this.#storeFor, consent: this.#attachments });
  }

  async cleanUpAssets(argument: unknown): Promise<RunOutcome> {
    const fields = readFields(argument);
    const folder = readUri(fields, 'folder') ?? folderOf((await findChat(fields))?.uri);
    if (!folder)
      return tell(failed(vscode.l10n.t('Open a saved chat first. The assets in its folder are cleaned up.')));
    if (!vscode.workspace.isTrusted) return tell(failed(UNTRUSTED_FILES));
    const { cleanUpAssets } = await import('./gallery/cleanUp.ts');
    try {
      return await cleanUpAssets({ folder, isRunning: () => this.#runs.isRunningIn(folder) });
    } catch (error) {
      return tell(failed(vscode.l10n.t('No assets were removed. {0}', messageOf(error))));
    }
  }

  async forgetPermissions(): Promise<void> {
    await this.#consent.forget();
    this.#attachments.forget();
    await this.servers.forget();
    void vscode.window.showInformationMessage(
      vscode.l10n.t('All saved permissions and sign-ins were cleared.'),
    );
  }

  #run(document: vscode.TextDocument, again?: vscode.Command): Promise<RunOutcome> {
    return this.#runNext(document, (listener) => listener.run(), again);
  }

  async #runNext(document: vscode.TextDocument, work: Work, again?: vscode.Command): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return tell(failed(UNTRUSTED));
    const unprepared = needsModel(document.getText()) ? await this.#prepareModel(document, again) : undefined;
    if (unprepared) return unprepared;
    const refused = await this.#askForServers(document);
    if (refused) return tell(refused);
    return this.#runs.start(document, work, again);
  }

  /** Asks for the model before anything is written, so that a cancelled run leaves no trace. */
  async #prepareModel(
    document: vscode.TextDocument,
    again?: vscode.Command,
  ): Promise<RunOutcome | undefined> {
    try {
      return (await this.modelCommands.prepare(document)) ? undefined : CANCELLED;
    } catch (error) {
      return this.#runs.refuse(document, failed(messageOf(error)), again);
    }
  }

  /** Tool calls need their servers. A reply does not: servers that the user declines are left out. Cancel ends the run. */
  async #askForServers(document: vscode.TextDocument): Promise<RunOutcome | undefined> {
    const text = document.getText();
    const chat = document.uri;
    const action = nextAction(text);
    if (action.kind === 'reply' || action.kind === 'resume') {
      const named = readSettings(parseChat(text)).settings.servers;
      const ask = this.servers.list.askForWorkspaceServers(named, { isNeeded: false, chat });
      const consent = await ask.catch((error: unknown) => this.log.warn(String(error)));
      if (consent === 'cancelled') return CANCELLED;
    }
    if (action.kind !== 'runTools') return undefined;
    const servers = new Set(action.calls.map((call) => call.server));
    return this.serverCommands.refused([...servers], chat);
  }

  /** The name of the model that would answer next, as far as that is known without requests. */
  #modelOf(document: vscode.TextDocument): string | undefined {
    const { model, agent } = readSettings(chatOf(document)).settings;
    // An agent may choose its own model, in a file that is read for the request.
    return model ?? agent ?? this.#models.configOf(undefined)?.name ?? defaultModel();
  }

  #count(uri: vscode.Uri, model: ChatModel, { used, request }: { used: Usage; request: ModelRequest }): void {
    this.modelCommands.calibrate(used, request);
    const dollars = costOf(used, model.price);
    void this.#cost.addTurn(uri, { model: model.name, usage: used, dollars });
  }

  /** The model that the chat or its agent names, or the default model. */
  async #modelFor(chat: string | undefined): Promise<ChatModel> {
    if (chat === undefined) return this.#models.find(undefined);
    const { uri, text } = await readChat(chat);
    return this.#conversations.of(uri).model(text);
  }

  async #rulesFor(chat: string): Promise<ChatRules> {
    const { uri, text } = await readChat(chat);
    return this.#conversations.of(uri).rules(text);
  }
}

const UNTRUSTED_FILES = vscode.l10n.t('This workspace is not trusted, so assets cannot be deleted.');

function folderOf(chat: vscode.Uri | undefined): vscode.Uri | undefined {
  return chat && chat.scheme !== 'untitled' ? vscode.Uri.joinPath(chat, '..') : undefined;
}
