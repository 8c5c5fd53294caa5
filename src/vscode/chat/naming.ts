import * as vscode from 'vscode';
import type { ChatLock } from '../../assets/chatLock.ts';
import { atMost, deferred } from '../../base/async.ts';
import { DEFAULT_STEM, stemFor } from '../../chat/outline/fileName.ts';
import { lockChat } from '../run/runs.ts';
import { nameChats } from '../settings.ts';
import { announceBriefly } from '../ui/announce.ts';
import { chatName, chatOf, freeChatUri } from './chatFiles.ts';

const UNNAMED = 'chats.unnamed';
const MAX_UNNAMED = 100;

/**
 * Renames chats that New Chat has created, after their first question, when the first words of a reply have arrived.
 * The rename replaces the editor, so this is the moment: the user waits for the reply, and after it writes the next
 * question. Each chat at most once, so that Undo brings the old name back for good. Only chats that are shown: the
 * editor then follows with its caret, its scroll position and its undo history.
 */
export class ChatNaming implements vscode.Disposable {
  readonly #memory: vscode.Memento;
  readonly #subscriptions: vscode.Disposable;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    this.#subscriptions = vscode.Disposable.from(
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

  /** Resolves to the lock of the new address, if there is one. The chat must not change while it is renamed. */
  async name(document: vscode.TextDocument, isUntouched: () => boolean): Promise<ChatLock | undefined> {
    const { uri } = document;
    if (!this.#unnamed().includes(uri.toString()) || !nameChats() || !isShown(document)) return undefined;
    const stem = stemFor(document.getText());
    const target = stem && (await freeChatUri(vscode.Uri.joinPath(uri, '..'), stem));
    const lock = target && (await lockChat(target));
    if (!target || !lock || 'holder' in lock) return undefined;
    // If the user has typed, the next reply is another chance.
    if (isUntouched()) {
      await this.#forget([uri]);
      if (await rename(document, target)) return lock;
    }
    await lock.release();
    return undefined;
  }
}

function isShown(document: vscode.TextDocument): boolean {
  return vscode.window.visibleTextEditors.some((editor) => editor.document === document);
}

/** As a workspace edit: Undo in the editor brings the old name back. Never replaces another file. */
async function rename(document: vscode.TextDocument, target: vscode.Uri): Promise<boolean> {
  const wasActive = vscode.window.activeTextEditor?.document === document;
  const edit = new vscode.WorkspaceEdit();
  edit.renameFile(document.uri, target, { overwrite: false });
  if (!(await vscode.workspace.applyEdit(edit))) return false;
  if (wasActive) await restoreFocus(target);
  announceBriefly(vscode.l10n.t('Renamed to {0}. Undo restores the old name.', chatName(target)));
  return true;
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
