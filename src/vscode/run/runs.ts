import * as vscode from 'vscode';
import { acquireLock, acquireLockOn, type ChatLock, type ChatLocked } from '../../assets/chatLock.ts';
import { ChatListener, type ReplyProgress } from '../../listener.ts';
import type { FileArguments, Log, RunOutcome } from '../../ports/document.ts';
import type { ChatModel, Conversation, ModelRequest, Usage } from '../../ports/models.ts';
import type { AssetStore } from '../../ports/results.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { Audit, Consent, ToolHost, ToolName } from '../../ports/tools.ts';
import { EditorDocument } from '../chat/editorDocument.ts';
import { failed, RUNNING, tell } from '../ui/outcomes.ts';
import { EndFollower } from './follow.ts';
import { RunProgress } from './progress.ts';

interface RunsDeps {
  readonly tools: ToolHost;
  readonly servers: ServerHost;
  readonly audit: Audit;
  readonly isSwitchedOff: (tool: ToolName) => boolean;
  readonly consent: Consent;
  readonly log: Log;
  readonly assetsFor: (uri: vscode.Uri) => Promise<AssetStore>;
  readonly filesFor: (uri: vscode.Uri) => FileArguments;
  readonly conversationFor: (uri: vscode.Uri) => Conversation;
  readonly mayContinue: (steps: number) => Promise<boolean>;
  readonly reviewResults: () => boolean;
  /** Saves text that could not be written to the document. */
  readonly rescue: (markdown: string) => void;
  readonly onReply: (uri: vscode.Uri, progress: ReplyProgress) => void;
  readonly onUsage: (uri: vscode.Uri, model: ChatModel, used: Usage, request: ModelRequest) => void;
  /** Called after a run. The chat may have been renamed or closed by then. */
  readonly conclude: (chat: EditorDocument, outcome: RunOutcome) => Promise<RunOutcome>;
}

export type Work = (listener: ChatListener) => Promise<RunOutcome>;

interface Run {
  readonly document: EditorDocument;
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

  constructor(deps: RunsDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    for (const run of this.#running) run.listener?.stop();
    for (const follower of this.#followers.values()) follower.dispose();
    this.#changed.dispose();
  }

  async start(document: vscode.TextDocument, work: Work): Promise<RunOutcome> {
    if (this.#find(document.uri)) return tell(failed(RUNNING));
    const run: Run = { document: new EditorDocument(document), isStopped: false };
    try {
      const outcome = await this.#run(run, work);
      return await this.#deps.conclude(run.document, outcome);
    } finally {
      run.document.dispose();
    }
  }

  async #run(run: Run, work: Work): Promise<RunOutcome> {
    const { uri } = run.document;
    this.#running.add(run);
    this.#fireChange(uri);
    try {
      const lock = await lockChat(uri);
      if ('holder' in lock)
        return failed(vscode.l10n.t('This chat is running in another place: {0}.', lock.holder));
      return await this.#work(run, work).finally(() => lock.release());
    } finally {
      this.#running.delete(run);
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

  isRunningIn(folder: vscode.Uri): boolean {
    return [...this.#running].some(
      (run) => vscode.Uri.joinPath(run.document.uri, '..').toString() === folder.toString(),
    );
  }

  /** Sets the context for the title bar button: Stop while the active chat runs, else Run. */
  showState(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const running = uri !== undefined && this.isRunning(uri);
    void vscode.commands.executeCommand('setContext', 'filechat.running', running);
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

  async #listen({ document }: Run, progress: RunProgress): Promise<ChatListener> {
    const { assetsFor, filesFor, conversationFor, onReply, onUsage, conclude, tools, servers, ...deps } =
      this.#deps;
    return new ChatListener({
      ...deps,
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
        onReply(document.uri, update);
      },
      onUsage: (model, used, request) => onUsage(document.uri, model, used, request),
    });
  }

  #find(uri: vscode.Uri): Run | undefined {
    return [...this.#running].find((run) => run.document.uri.toString() === uri.toString());
  }

  #fireChange(uri: vscode.Uri): void {
    this.showState();
    this.#changed.fire(uri);
  }
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
