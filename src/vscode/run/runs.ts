import * as vscode from 'vscode';
import { acquireLock, acquireLockOn, type ChatLock, type ChatLocked } from '../../assets/chatLock.ts';
import { messageOf } from '../../base/errors.ts';
import { ChatListener } from '../../listener.ts';
import type { FileArguments, Log, RunOutcome } from '../../ports/document.ts';
import type { Failure } from '../../ports/failures.ts';
import type { ChatModel, Conversation, ModelRequest, Usage } from '../../ports/models.ts';
import type { AssetStore } from '../../ports/results.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { Audit, Consent, ToolHost } from '../../ports/tools.ts';
import { giveTitle } from '../chat/chatCommands.ts';
import { chatName, moveToEnd } from '../chat/chatFiles.ts';
import { EditorDocument } from '../chat/editorDocument.ts';
import { askInNotice } from '../consent/noticeQuestion.ts';
import { autoSave, resultLimits, reviewResults } from '../settings.ts';
import { isEnabled } from '../tools/switches.ts';
import { announceBriefly } from '../ui/announce.ts';
import { failed, RUNNING, tell, warn } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { RunTally } from './costText.ts';
import { EndFollower } from './follow.ts';
import { RunProgress } from './progress.ts';
import { RunFailures } from './runFailures.ts';

interface RunsDeps {
  readonly tools: ToolHost;
  readonly servers: Pick<ServerHost, 'readResource' | 'getPrompt'>;
  readonly audit: Audit;
  readonly consent: Consent;
  readonly log: Log;
  readonly assetsFor: (uri: vscode.Uri) => Promise<AssetStore>;
  readonly filesFor: (uri: vscode.Uri) => FileArguments;
  readonly conversationFor: (uri: vscode.Uri) => Conversation;
  readonly rescue: (markdown: string) => void;
  /** Called when a reply has begun. Resolves to the lock of the new address if the chat was renamed. */
  readonly nameChat: (
    document: vscode.TextDocument,
    isUntouched: () => boolean,
  ) => Promise<ChatLock | undefined>;
  readonly onUsage: (uri: vscode.Uri, model: ChatModel, used: Usage, request: ModelRequest) => void;
}

export type Work = (listener: ChatListener) => Promise<RunOutcome>;

const TICK_MS = 1_000;

interface Run {
  /** Follows renames. */
  readonly document: EditorDocument;
  readonly tally: RunTally;
  /** The servers whose tools the model did not get, by name. */
  readonly servers: Map<string, Failure>;
  /** Of the address of the chat. Follows renames: the old address may soon be that of another chat. */
  lock?: ChatLock | undefined;
  listener?: ChatListener;
  /** Can be set before there is a listener. */
  isStopped: boolean;
}

/** The running chats: one turn loop per chat, across windows. */
export class Runs implements vscode.Disposable {
  readonly failures = new RunFailures();
  readonly #deps: RunsDeps;
  /** The last failure of each server that the user was told of: not at every run. */
  readonly #told = new Map<string, string>();
  readonly #running = new Set<Run>();
  /** By chat. A follower of a background tab outlives its run. */
  readonly #followers = new Map<string, EndFollower>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  /** A run of the chat has started or ended. */
  readonly onDidChange = this.#changed.event;
  readonly #progressed = new vscode.EventEmitter<void>();
  /** Fires every second while a chat runs, and when a run enters another state. */
  readonly onDidProgress = this.#progressed.event;
  readonly #subscription = vscode.window.onDidChangeActiveTextEditor(() => this.#showState());
  #clock: NodeJS.Timeout | undefined;

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    clearInterval(this.#clock);
    this.#subscription.dispose();
    this.failures.dispose();
    for (const run of this.#running) run.listener?.stop();
    for (const follower of this.#followers.values()) follower.dispose();
    this.#changed.dispose();
    this.#progressed.dispose();
  }

  /** `again` repeats the run after a failure; by default, the chat is run. */
  async start(document: vscode.TextDocument, work: Work, again?: vscode.Command): Promise<RunOutcome> {
    if (this.#find(document.uri)) return tell(failed(RUNNING), { uri: document.uri });
    const run: Run = {
      // The new editor is active before the rename is reported.
      document: new EditorDocument(document, () => this.#moved(run)),
      tally: new RunTally(),
      servers: new Map(),
      isStopped: false,
    };
    this.failures.forget(document.uri);
    try {
      const outcome = await this.#run(run, work, again);
      await conclude(run.document, outcome, chatName(document.uri));
      this.#tellOfServers(run);
      return tell(outcome, { uri: run.document.uri, again });
    } finally {
      run.document.dispose();
    }
  }

  /** Reports a run that could not be started like one that has failed. */
  refuse(document: vscode.TextDocument, outcome: RunOutcome, again?: vscode.Command): RunOutcome {
    const { uri } = document;
    this.failures.remember(document, outcome, { servers: [], again });
    this.#fireChange(uri);
    return tell(outcome, { uri, again });
  }

  #tellOfServers({ servers, document: { uri } }: Run): void {
    for (const failure of servers.values()) {
      const { server = '', reason = '' } = failure;
      const told = this.#told.get(server);
      // The next run says the same, and how to start the server again.
      if (told !== undefined && reason.startsWith(told)) continue;
      this.#told.set(server, reason);
      void warn({ ok: false, failure, assets: [] }, { uri });
    }
  }

  async #run(run: Run, work: Work, again: vscode.Command | undefined): Promise<RunOutcome> {
    const { uri } = run.document;
    this.#running.add(run);
    this.#clock ??= setInterval(() => this.#progressed.fire(), TICK_MS);
    this.#fireChange(uri);
    try {
      const lock = await lockChat(uri);
      if ('holder' in lock)
        return failed(vscode.l10n.t('This chat is already running in another process: {0}.', lock.holder));
      await this.#replaceLock(run, lock);
      const outcome = await this.#work(run, work);
      this.failures.remember(run.document.current, outcome, { servers: [...run.servers.values()], again });
      return outcome;
    } finally {
      await releaseLock(run);
      this.#running.delete(run);
      if (this.#running.size === 0) {
        clearInterval(this.#clock);
        this.#clock = undefined;
      }
      this.#fireChange(run.document.uri);
    }
  }

  stop(uri: vscode.Uri): void {
    const run = this.#find(uri);
    if (run) run.isStopped = true;
    run?.listener?.stop();
  }

  isRunning(uri: vscode.Uri): boolean {
    return this.#find(uri) !== undefined;
  }

  tallyOf(uri: vscode.Uri): RunTally | undefined {
    return this.#find(uri)?.tally;
  }

  isRunningIn(folder: vscode.Uri): boolean {
    return [...this.#running].some(
      (run) => vscode.Uri.joinPath(run.document.uri, '..').toString() === folder.toString(),
    );
  }

  async #work(run: Run, work: Work): Promise<RunOutcome> {
    const follower = this.#followEnd(run.document);
    const progress = new RunProgress(() => run.listener?.stop());
    try {
      const listener = await this.#listen(run, progress);
      run.listener = listener;
      return run.isStopped ? { ...failed(vscode.l10n.t('Stopped.')), cancelled: true } : await work(listener);
    } finally {
      progress.dispose();
      follower.finish();
    }
  }

  #followEnd(chat: EditorDocument): EndFollower {
    const name = chat.uri.toString();
    this.#followers.get(name)?.dispose();
    const follower = new EndFollower(chat, () => {
      if (this.#followers.get(name) === follower) this.#followers.delete(name);
    });
    this.#followers.set(name, follower);
    return follower;
  }

  async #listen(run: Run, progress: RunProgress): Promise<ChatListener> {
    const { document, tally, servers: failedServers } = run;
    const { assetsFor, filesFor, conversationFor, onUsage, tools, servers, ...deps } = this.#deps;
    const { version } = document.current;
    return new ChatListener({
      ...deps,
      isSwitchedOff: (tool) => !isEnabled(tool),
      mayContinue: (steps, signal) => mayContinue(document.uri, steps, signal),
      onLargeFiles: (source, files) => void warnOfLargeFiles(document.uri, source, files),
      reviewResults,
      limits: resultLimits,
      document,
      chat: () => document.uri.toString(),
      tools: progress.watch(tools),
      servers: progress.watchServers(servers),
      assets: await assetsFor(document.uri),
      files: filesFor(document.uri),
      conversation: progress.watchPreparation(conversationFor(document.uri)),
      onProgress: (call, update) => progress.tool(call, update),
      beforeReply: () => this.#name(run, version),
      onReply: (update) => {
        progress.reply(update);
        if (update.kind === 'asking') {
          for (const failure of update.failures ?? []) failedServers.set(failure.server ?? '', failure);
        }
        // Counts change too fast to read; the next tick shows them.
        const isNew = tally.state?.kind !== update.kind || update.kind === 'waiting';
        tally.update(update);
        if (isNew) this.#progressed.fire();
      },
      onUsage: (model, used, request) => onUsage(document.uri, model, used, request),
    });
  }

  async #name(run: Run, version: number): Promise<void> {
    const { current } = run.document;
    const lock = await this.#deps.nameChat(current, () => !current.isClosed && current.version === version);
    if (lock) await this.#replaceLock(run, lock);
  }

  #moved(run: Run): void {
    this.#fireChange(run.document.uri);
    this.#moveLock(run).catch((error: unknown) => this.#deps.log.warn(messageOf(error)));
  }

  async #moveLock(run: Run): Promise<void> {
    const lock = await lockChat(run.document.uri);
    // Filechat locks the new address before it renames a chat itself.
    if (!('holder' in lock)) await this.#replaceLock(run, lock);
  }

  async #replaceLock(run: Run, lock: ChatLock): Promise<void> {
    if (!this.#running.has(run)) return lock.release();
    const old = run.lock;
    run.lock = lock;
    await old?.release();
  }

  #find(uri: vscode.Uri): Run | undefined {
    return [...this.#running].find((run) => run.document.uri.toString() === uri.toString());
  }

  /** Sets the context for the title bar button: Stop while the active chat runs, else Run. */
  #showState(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const running = uri !== undefined && this.isRunning(uri);
    void vscode.commands.executeCommand('setContext', 'filechat.running', running);
  }

  #fireChange(uri: vscode.Uri): void {
    this.#showState();
    this.#changed.fire(uri);
  }
}

/** The chat may be renamed meanwhile, and get another lock. */
async function releaseLock(run: Run): Promise<void> {
  for (let { lock } = run; lock; lock = run.lock) {
    run.lock = undefined;
    await lock.release();
  }
}

/** The chat may have been renamed or closed by now. */
async function conclude(chat: EditorDocument, outcome: RunOutcome, nameBefore: string): Promise<void> {
  const editor = editorInFront(chat.uri);
  if (editor && outcome.declined) moveToEnd(editor);
  if (editor && outcome.ok) announceBriefly(vscode.l10n.t('$(check) Run finished'));
  if (outcome.ok) await giveTitle(chat, nameBefore);
  if (autoSave() && !outcome.lost && !outcome.untouched) await chat.save();
}

/** Only in front: elsewhere, the user is doing something else. */
function editorInFront(chat: vscode.Uri): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.toString() === chat.toString() ? editor : undefined;
}

/** Not modal: the user may be doing something else by now. So the question stays until it is answered. */
async function mayContinue(chat: vscode.Uri, steps: number, signal: AbortSignal): Promise<boolean> {
  const goOn = vscode.l10n.t('Continue');
  const message = vscode.l10n.t('The model has taken {0} steps in a row. Continue?', steps);
  const question = { chat: chat.toString(), message, answers: [goOn, vscode.l10n.t('Stop')] };
  return (await askInNotice(question, signal)) === goOn;
}

async function warnOfLargeFiles(chat: vscode.Uri, source: string, files: string): Promise<void> {
  const show = vscode.l10n.t('Show Assets');
  const message = vscode.l10n.t(
    'Large files from {0}: {1}. The setting filechat.results.maxAssetBytes limits the size of files.',
    plainMessage(source),
    plainMessage(files),
  );
  if ((await vscode.window.showWarningMessage(message, show)) === show)
    await vscode.commands.executeCommand('filechat.showAssets', { uri: chat });
}

const WHO = 'another window of VS Code';

/** Allows one run per chat, across windows and the command line. */
export async function lockChat(uri: vscode.Uri): Promise<ChatLock | ChatLocked> {
  // An untitled chat is only in this window.
  if (uri.scheme === 'untitled') return { release: async () => undefined };
  return uri.scheme === 'file'
    ? acquireLock(uri.fsPath, { who: WHO })
    : acquireLockOn(uri.toString(), { who: WHO });
}
