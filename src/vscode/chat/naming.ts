import * as vscode from 'vscode';
import { atMost, deferred } from '../../base/async.ts';
import { isEmptyTurn } from '../../chat/format/parse.ts';
import { DEFAULT_STEM, stemFor } from '../../chat/outline/fileName.ts';
import { lockChat, type Runs } from '../run/runs.ts';
import { nameChats } from '../settings.ts';
import { chatName, chatOf, freeChatUri } from './chatFiles.ts';
import { watchChats } from './watch.ts';

/** The editor has then caught up with the end of the run. */
const IDLE_MS = 300;
const MESSAGE_MS = 8_000;
const UNNAMED = 'chats.unnamed';
const MAX_UNNAMED = 100;

/**
 * Renames chats that New Chat has created, after their first question, once there is a reply. Each at most once, so
 * that Undo brings the old name back for good. Only chats that are shown: the editor then follows with its caret, its
 * scroll position and its undo history. Not while the user writes the next question, because the editor is replaced.
 */
export class ChatNaming implements vscode.Disposable {
  readonly #memory: vscode.Memento;
  readonly #runs: Pick<Runs, 'isRunning' | 'onDidChange'>;
  readonly #subscriptions: vscode.Disposable;

  constructor(memory: vscode.Memento, runs: Pick<Runs, 'isRunning' | 'onDidChange'>) {
    this.#memory = memory;
    this.#runs = runs;
    const watch = watchChats(IDLE_MS, (document, signal) => this.#name(document, signal));
    const updateAll = () => {
      for (const { document } of vscode.window.visibleTextEditors) watch.update(document);
    };
    this.#subscriptions = vscode.Disposable.from(
      watch,
      runs.onDidChange(updateAll),
      vscode.window.onDidChangeVisibleTextEditors(updateAll),
      // Another chat may get the same address later.
      vscode.workspace.onDidDeleteFiles(({ files }) => this.#forget(files)),
      vscode.workspace.onDidRenameFiles(({ files }) => this.#forget(files.map(({ oldUri }) => oldUri))),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  /** To be called for each chat that was created without a name from the user. */
  async created(document: vscode.TextDocument): Promise<void> {
    const { uri } = document;
    const isAnswered = chatOf(document).turns.some(({ role }) => role === 'assistant');
    await this.#forget([uri]);
    if (!DEFAULT_STEM.test(chatName(uri)) || isAnswered) return;
    await this.#memory.update(UNNAMED, [...this.#unnamed(), uri.toString()].slice(-MAX_UNNAMED));
  }

  async #forget(uris: readonly vscode.Uri[]): Promise<void> {
    const gone = new Set(uris.map(String));
    const unnamed = this.#unnamed();
    const kept = unnamed.filter((each) => !gone.has(each));
    if (kept.length < unnamed.length) await this.#memory.update(UNNAMED, kept);
  }

  #unnamed(): readonly string[] {
    return this.#memory.get<readonly string[]>(UNNAMED, []);
  }

  async #name(document: vscode.TextDocument, signal: AbortSignal): Promise<void> {
    const { uri } = document;
    if (!this.#unnamed().includes(uri.toString()) || !nameChats() || this.#runs.isRunning(uri)) return;
    if (!isShown(document) || !endsWithReply(document)) return;
    const stem = stemFor(document.getText());
    const target = stem && (await freeChatUri(vscode.Uri.joinPath(uri, '..'), stem));
    // If the user has typed, closed the chat or run it again, the next pause is another chance.
    if ((await isLocked(uri)) || signal.aborted || this.#runs.isRunning(uri)) return;
    const forgotten = this.#forget([uri]);
    if (target) await rename(document, target);
    await forgotten;
  }
}

/** Whether the chat runs in another window or on the command line. */
async function isLocked(chat: vscode.Uri): Promise<boolean> {
  const lock = await lockChat(chat);
  if ('holder' in lock) return true;
  await lock.release();
  return false;
}

function isShown(document: vscode.TextDocument): boolean {
  return vscode.window.visibleTextEditors.some((editor) => editor.document === document);
}

/** A reply that is whole, and nothing typed below it. After a failure, messages may still refer to the old name. */
function endsWithReply(document: vscode.TextDocument): boolean {
  const text = document.getText();
  const [reply, next] = chatOf(document).turns.slice(-2);
  if (reply?.role !== 'assistant' || reply.cut || isEmptyTurn(text, reply)) return false;
  return next?.role === 'user' && isEmptyTurn(text, next);
}

/** As a workspace edit: Undo in the editor brings the old name back. Never replaces another file. */
async function rename(document: vscode.TextDocument, target: vscode.Uri): Promise<void> {
  const wasActive = vscode.window.activeTextEditor?.document === document;
  const edit = new vscode.WorkspaceEdit();
  edit.renameFile(document.uri, target, { overwrite: false });
  if (!(await vscode.workspace.applyEdit(edit))) return;
  if (wasActive) await restoreFocus(target);
  const message = vscode.l10n.t('Renamed to {0}. Undo brings the old name back.', chatName(target));
  vscode.window.setStatusBarMessage(message, MESSAGE_MS);
}

const FOCUS_TIMEOUT_MS = 2_000;

/**
 * VS Code replaces the editor of a renamed file by one without the focus. Extensions cannot see where the focus is, and
 * showing the document would take it from an input that the user has moved to. Redo focuses the active editor only if
 * no other text has the focus, and has nothing to redo: the rename was the last step.
 */
async function restoreFocus(target: vscode.Uri): Promise<void> {
  const isShown = () => vscode.window.activeTextEditor?.document.uri.toString() === target.toString();
  const shown = deferred<void>();
  const subscription = vscode.window.onDidChangeActiveTextEditor(() => isShown() && shown.resolve());
  if (!isShown()) await atMost(FOCUS_TIMEOUT_MS, shown.promise);
  subscription.dispose();
  if (isShown()) await vscode.commands.executeCommand('redo');
}
