import * as vscode from 'vscode';
import { acquireLock, acquireLockOn, type ChatLock, type ChatLocked } from '../../assets/chatLock.ts';
import { ChatListener, type ReplyProgress } from '../../listener.ts';
import type { Log, RunOutcome } from '../../ports/document.ts';
import type { FileArguments } from '../../ports/files.ts';
import type { ChatModel, Conversation, ModelRequest, Usage } from '../../ports/models.ts';
import type { AssetStore } from '../../ports/results.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { Audit, Consent, ToolHost, ToolName } from '../../ports/tools.ts';

import { EditorDocument } from '../chat/editorDocument.ts';
import { failed, RUNNING, tell } from '../ui/outcomes.ts';
import { EndFollower } from './follow.ts';
import { RunProgress } from './progress.ts';

export interface RunParts {
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
  /** Keeps what a document did not take. */
  readonly rescue: (markdown: string) => void;
  readonly onReply: (uri: vscode.Uri, progress: ReplyProgress) => void;
  readonly onUsage: (uri: vscode.Uri, model: ChatModel, used: Usage, request: ModelRequest) => void;
  /** Does what is left when a run has ended. The chat may have another name by then, or no tab. */
  readonly conclude: (chat: EditorDocument, outcome: RunOutcome) => Promise<RunOutcome>;
}

interface Run {
  readonly document: EditorDocument;
  listener?: ChatListener;
  /** Also before there is anything to stop. */
  isStopped: boolean;
}

/** What runs now: one turn loop a document at a time, in this window and in all others. */
export class Runs implements vscode.Disposable {
  readonly #parts: RunParts;
  readonly #running = new Set<Run>();
  /** By chat. They outlive their run where its tab is in the background. */
  readonly #followers = new Map<string, EndFollower>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  /** A run of the chat has begun or ended. */
  readonly onDidChange = this.#changed.event;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  dispose(): void {
    for (const run of this.#running) run.listener?.stop();
    for (const follower of this.#followers.values()) follower.dispose();
    this.#changed.dispose();
  }

  async start(
    document: vscode.TextDocument,
    work: (listener: ChatListener) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    if (this.#find(document.uri)) return tell(failed(RUNNING));
    const run: Run = { document: new EditorDocument(document), isStopped: false };
    try {
      const outcome = await this.#run(run, work);
      return await this.#parts.conclude(run.document, outcome);
    } finally {
      run.document.dispose();
    }
  }

  async #run(run: Run, work: (listener: ChatListener) => Promise<RunOutcome>): Promise<RunOutcome> {
    const { uri } = run.document;
    this.#running.add(run);
    this.#tellChange(uri);
    try {
      const lock = await lockChat(uri);
      if ('holder' in lock)
        return failed(vscode.l10n.t('This chat is running in another place: {0}.', lock.holder));
      return await this.#work(run, work).finally(() => lock.release());
    } finally {
      this.#running.delete(run);
      this.#tellChange(run.document.uri);
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

  /** Whether any chat of a folder runs. */
  isRunningIn(folder: vscode.Uri): boolean {
    return [...this.#running].some(
      (run) => vscode.Uri.joinPath(run.document.uri, '..').toString() === folder.toString(),
    );
  }

  /** The button in the title bar is Stop while the chat in front runs, else Run. */
  showState(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const running = uri !== undefined && this.isRunning(uri);
    void vscode.commands.executeCommand('setContext', 'filechat.running', running);
  }

  async #work(run: Run, work: (listener: ChatListener) => Promise<RunOutcome>): Promise<RunOutcome> {
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
    const { assetsFor, filesFor, conversationFor, onReply, onUsage, conclude, tools, servers, ...parts } =
      this.#parts;
    return new ChatListener({
      ...parts,
      document,
      chat: document.uri.toString(),
      tools: progress.watch(tools),
      servers: progress.watchServers(servers),
      assets: await assetsFor(document.uri),
      files: filesFor(document.uri),
      conversation: progress.watchPreparation(conversationFor(document.uri)),
      onProgress: (call, told) => progress.tool(call, told),
      onReply: (told) => {
        progress.reply(told);
        onReply(document.uri, told);
      },
      onUsage: (model, used, request) => onUsage(document.uri, model, used, request),
    });
  }

  #find(uri: vscode.Uri): Run | undefined {
    return [...this.#running].find((run) => run.document.uri.toString() === uri.toString());
  }

  #tellChange(uri: vscode.Uri): void {
    this.showState();
    this.#changed.fire(uri);
  }
}

const WHO = 'another window of VS Code';

/** One run a chat at a time, across windows and the command line. */
export async function lockChat(uri: vscode.Uri): Promise<ChatLock | ChatLocked> {
  // A chat that is not saved is in this window only.
  if (uri.scheme === 'untitled') return { release: async () => undefined };
  return uri.scheme === 'file'
    ? acquireLock(uri.fsPath, { who: WHO })
    : acquireLockOn(uri.toString(), { who: WHO });
}
