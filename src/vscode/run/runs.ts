import * as vscode from 'vscode';
import { acquireLock, acquireLockOn, type ChatLock, type ChatLocked } from '../../assets/chatLock.ts';
import { ChatListener } from '../../listener.ts';
import type { FileArguments, Log, RunOutcome } from '../../ports/document.ts';
import type { ChatModel, Conversation, ModelRequest, Usage } from '../../ports/models.ts';
import type { AssetStore } from '../../ports/results.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { Audit, Consent, ToolHost } from '../../ports/tools.ts';
import { selectCall } from '../chat/chatFiles.ts';
import { giveTitle } from '../chat/commands.ts';
import { EditorDocument } from '../chat/editorDocument.ts';
import { autoSave, reviewResults } from '../settings.ts';
import { isEnabled } from '../tools/switches.ts';
import { failed, RUNNING, tell } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { RunTally } from './costText.ts';
import { EndFollower } from './follow.ts';
import { RunProgress } from './progress.ts';

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
  readonly onUsage: (uri: vscode.Uri, model: ChatModel, used: Usage, request: ModelRequest) => void;
}

export type Work = (listener: ChatListener) => Promise<RunOutcome>;

const TICK_MS = 1_000;

interface Run {
  /** Follows renames. */
  readonly document: EditorDocument;
  readonly tally: RunTally;
  listener?: ChatListener;
  /** Can be set before there is a listener. */
  isStopped: boolean;
}

/** The running chats: one turn loop per chat, across windows. */
export class Runs implements vscode.Disposable {
  readonly #deps: RunsDeps;
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
    for (const run of this.#running) run.listener?.stop();
    for (const follower of this.#followers.values()) follower.dispose();
    this.#changed.dispose();
    this.#progressed.dispose();
  }

  async start(document: vscode.TextDocument, work: Work): Promise<RunOutcome> {
    if (this.#find(document.uri)) return tell(failed(RUNNING));
    const run: Run = { document: new EditorDocument(document), tally: new RunTally(), isStopped: false };
    try {
      const outcome = await this.#run(run, work);
      return await conclude(run.document, outcome);
    } finally {
      run.document.dispose();
    }
  }

  async #run(run: Run, work: Work): Promise<RunOutcome> {
    const { uri } = run.document;
    this.#running.add(run);
    this.#clock ??= setInterval(() => this.#progressed.fire(), TICK_MS);
    this.#fireChange(uri);
    try {
      const lock = await lockChat(uri);
      if ('holder' in lock)
        return failed(vscode.l10n.t('This chat is running in another place: {0}.', lock.holder));
      return await this.#work(run, work).finally(() => lock.release());
    } finally {
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

  async #listen({ document, tally }: Run, progress: RunProgress): Promise<ChatListener> {
    const { assetsFor, filesFor, conversationFor, onUsage, tools, servers, ...deps } = this.#deps;
    return new ChatListener({
      ...deps,
      isSwitchedOff: (tool) => !isEnabled(tool),
      mayContinue,
      onLargeFiles: (source, files) => void warnOfLargeFiles(document.uri, source, files),
      reviewResults,
      document,
      chat: document.uri.toString(),
      tools: progress.watch(tools),
      servers: progress.watchServers(servers),
      assets: await assetsFor(document.uri),
      files: filesFor(document.uri),
      conversation: progress.watchPreparation(conversationFor(document.uri)),
      onProgress: (call, update) => progress.tool(call, update),
      onReply: (update) => {
        progress.reply(update);
        // Counts change too fast to read; the next tick shows them.
        const isNew = tally.state?.kind !== update.kind || update.kind === 'waiting';
        tally.update(update);
        if (isNew) this.#progressed.fire();
      },
      onUsage: (model, used, request) => onUsage(document.uri, model, used, request),
    });
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

/** The chat may have been renamed or closed by now. */
async function conclude(chat: EditorDocument, outcome: RunOutcome): Promise<RunOutcome> {
  if (outcome.edit !== undefined) await selectCall(chat.current, outcome.edit);
  if (outcome.ok) await giveTitle(chat);
  if (autoSave() && !outcome.lost) await chat.save();
  return tell(outcome, chat.uri);
}

async function mayContinue(steps: number): Promise<boolean> {
  const goOn = vscode.l10n.t('Go On');
  const question = vscode.l10n.t('The model has taken {0} steps in a row. Let it go on?', steps);
  return (await vscode.window.showInformationMessage(question, { modal: true }, goOn)) === goOn;
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
