import * as vscode from 'vscode';
import { deferred } from '../../base/async.ts';
import { groupBy } from '../../base/collections.ts';
import type { Chat } from '../../chat/format/chat.ts';
import { chatOf, openDocument } from '../chat/chatFiles.ts';
import { movedUri, type Renamed } from '../chat/renames.ts';
import { closedUris } from '../chat/tabs.ts';
import { autoSave } from '../settings.ts';
import { type CallQuestion, rulesText, stateOf } from './questionState.ts';

export type QuestionAnswer =
  | {
      readonly kind: 'allow';
      readonly scope: 'once' | 'tool' | 'server';
      /** The arguments, if the user has edited them. */
      readonly edited?: string;
    }
  | { readonly kind: 'deny'; readonly reason?: string; readonly endsRun?: true }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'withdraw' };

export interface OpenQuestion extends CallQuestion {
  /** Follows renames. */
  readonly chat: vscode.Uri;
}

interface Entry {
  chat: vscode.Uri;
  readonly question: CallQuestion;
  readonly resolve: (answer: QuestionAnswer) => void;
}

/** The calls that wait for permission, in their chats. A call whose chat changes or is closed no longer waits. */
export class CallQuestions implements vscode.Disposable {
  readonly #entries = new Set<Entry>();
  /** Calls that were allowed while an earlier one of their chat was still waiting. */
  #allowed: readonly Entry[] = [];
  readonly #changed = new vscode.EventEmitter<void>();
  /** A question was asked, answered or withdrawn, or the text of its chat has changed. */
  readonly onDidChange = this.#changed.event;
  /** Chats that are being renamed: VS Code closes their old tabs first. */
  readonly #renaming = new Set<string>();
  readonly #subscriptions = vscode.Disposable.from(
    this.#changed,
    vscode.workspace.onDidChangeTextDocument(({ document }) => this.#update(document)),
    vscode.workspace.onWillRenameFiles(({ files }) => this.#beginRename(files)),
    vscode.workspace.onDidRenameFiles(({ files }) => this.#rename(files)),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => this.#close(closedUris(closed))),
  );

  dispose(): void {
    for (const entry of this.#entries) entry.resolve({ kind: 'withdraw' });
    this.#entries.clear();
    this.#subscriptions.dispose();
  }

  /** Resolves when the user answers. The text of the chat must still be the one that the question is about. */
  async ask(
    chat: vscode.Uri,
    question: Omit<CallQuestion, 'rules'>,
    signal?: AbortSignal,
  ): Promise<QuestionAnswer> {
    const document = openDocument(chat) ?? (await vscode.workspace.openTextDocument(chat));
    if (signal?.aborted) return { kind: 'cancel' };
    const { promise, resolve } = deferred<QuestionAnswer>();
    const entry: Entry = { chat, question: { ...question, rules: rulesText(chatOf(document)) }, resolve };
    const cancel = () => this.#resolve([entry], { kind: 'cancel' });
    signal?.addEventListener('abort', cancel, { once: true });
    this.#entries.add(entry);
    // The user may have edited the call while its tool was looked up.
    this.#update(document);
    // The question may stay open for long: the reply that asks it must survive a reload or a closed tab.
    if (document.isDirty && !document.isUntitled && autoSave()) void document.save();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Those of one chat in the order of its text. */
  get all(): readonly OpenQuestion[] {
    const chats = groupBy(this.#entries, ({ chat }) => chat.toString());
    return [...chats.values()].flatMap(inOrder);
  }

  /** How many calls wait, for the icon of the view. */
  get badge(): vscode.ViewBadge | undefined {
    const value = this.#entries.size;
    if (value === 0) return undefined;
    const tooltip =
      value === 1
        ? vscode.l10n.t('1 tool call is waiting for permission')
        : vscode.l10n.t('{0} tool calls are waiting for permission', value);
    return { value, tooltip };
  }

  /** In the order of the text. */
  of(chat: vscode.Uri): readonly OpenQuestion[] {
    return inOrder(this.#of(chat));
  }

  /** Returns whether the question was still open. */
  answer({ chat, call }: OpenQuestion, answer: QuestionAnswer): boolean {
    const entry = this.#of(chat).find(({ question }) => question.call.id === call.id);
    if (entry) this.#resolve([entry], answer);
    return entry !== undefined;
  }

  /** The allowed calls that run after a call that still waits for permission, which is the id. */
  inTurn(chat: vscode.Uri): readonly { readonly question: CallQuestion; readonly after: string }[] {
    const [first] = this.of(chat);
    const document = openDocument(chat);
    if (!first || !document) return [];
    const parsed = chatOf(document);
    return this.#allowed
      .filter((each) => each.chat.toString() === chat.toString())
      .filter(({ question }) => offsetOf(first, parsed) < offsetOf(question, parsed))
      .map(({ question }) => ({ question, after: first.call.id }));
  }

  #of(chat: vscode.Uri): readonly Entry[] {
    return [...this.#entries].filter((each) => each.chat.toString() === chat.toString());
  }

  #resolve(entries: readonly Entry[], answer: QuestionAnswer): void {
    for (const entry of entries) {
      this.#entries.delete(entry);
      entry.resolve(answer);
    }
    const allowed = answer.kind === 'allow' ? [...this.#allowed, ...entries] : this.#allowed;
    this.#allowed = allowed.filter(({ chat }) => this.#of(chat).length > 0);
    this.#changed.fire();
  }

  #update(document: vscode.TextDocument): void {
    const entries = this.#of(document.uri);
    if (entries.length === 0) return;
    const chat = chatOf(document);
    const gone = entries.filter(({ question }) => stateOf(question, chat).kind === 'withdrawn');
    this.#resolve(gone, { kind: 'withdraw' });
  }

  #beginRename(files: readonly Renamed[]): void {
    for (const { chat } of this.#entries) {
      if (files.some((file) => movedUri(chat, file))) this.#renaming.add(chat.toString());
    }
  }

  #rename(files: readonly Renamed[]): void {
    this.#renaming.clear();
    for (const entry of [...this.#entries, ...this.#allowed]) {
      const to = files.map((file) => movedUri(entry.chat, file)).find((each) => each !== undefined);
      if (to) entry.chat = to;
    }
    this.#changed.fire();
  }

  #close(closed: readonly vscode.Uri[]): void {
    for (const uri of closed) {
      if (this.#renaming.has(uri.toString())) continue;
      this.#resolve(this.#of(uri), { kind: 'withdraw' });
    }
  }
}

/** Questions of one chat are asked side by side, so a later call may be asked about first. */
function inOrder(entries: readonly Entry[]): readonly OpenQuestion[] {
  const open = entries.map(({ chat, question }) => ({ ...question, chat }));
  const document = open[0] && openDocument(open[0].chat);
  if (!document) return open;
  const parsed = chatOf(document);
  const offsets = new Map(open.map((each) => [each, offsetOf(each, parsed)]));
  return open.sort((a, b) => (offsets.get(a) ?? 0) - (offsets.get(b) ?? 0));
}

export function offsetOf(question: CallQuestion, chat: Chat): number {
  const state = stateOf(question, chat);
  return state.kind === 'withdrawn' ? Number.POSITIVE_INFINITY : state.at.start;
}
