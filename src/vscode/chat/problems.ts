import * as vscode from 'vscode';
import { readSettings } from '../../chat/format/settings.ts';
import { chatOf, isChat } from './chatFiles.ts';

const DEBOUNCE_MS = 300;

/** Reports calls, fences and settings that cannot be parsed. */
export function watchProblems(): vscode.Disposable {
  return new ChatDiagnostics('filechat', findProblems, { openDelayMs: 0 });
}

async function findProblems(document: vscode.TextDocument): Promise<readonly vscode.Diagnostic[]> {
  const chat = chatOf(document);
  return [...readSettings(chat).problems, ...chat.problems].map(({ offset, message }) => {
    const { range } = document.lineAt(document.positionAt(offset));
    return new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning);
  });
}

/** The diagnostics of all open chats, updated after each pause in typing. */
export class ChatDiagnostics implements vscode.Disposable {
  readonly #find: (document: vscode.TextDocument) => Promise<readonly vscode.Diagnostic[]>;
  readonly #shown: vscode.DiagnosticCollection;
  readonly #pending = new Map<vscode.TextDocument, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable;

  constructor(
    name: string,
    find: (document: vscode.TextDocument) => Promise<readonly vscode.Diagnostic[]>,
    { openDelayMs = DEBOUNCE_MS } = {},
  ) {
    this.#find = find;
    this.#shown = vscode.languages.createDiagnosticCollection(name);
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => this.#checkSoon(document, openDelayMs)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#checkSoon(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document)),
      this.#shown,
    );
    this.checkAll(openDelayMs);
  }

  dispose(): void {
    for (const timer of this.#pending.values()) clearTimeout(timer);
    this.#subscriptions.dispose();
  }

  checkAll(delayMs = DEBOUNCE_MS): void {
    for (const document of vscode.workspace.textDocuments) this.#checkSoon(document, delayMs);
  }

  #checkSoon(document: vscode.TextDocument, delayMs = DEBOUNCE_MS): void {
    if (!isChat(document.uri)) return;
    clearTimeout(this.#pending.get(document));
    this.#pending.set(
      document,
      setTimeout(() => void this.#check(document), delayMs),
    );
  }

  async #check(document: vscode.TextDocument): Promise<void> {
    this.#pending.delete(document);
    if (document.isClosed) return;
    const { version } = document;
    const found = await this.#find(document);
    // A change has scheduled another check.
    if (document.isClosed || document.version !== version) return;
    this.#shown.set(document.uri, found);
  }

  #forget(document: vscode.TextDocument): void {
    clearTimeout(this.#pending.get(document));
    this.#pending.delete(document);
    this.#shown.delete(document.uri);
  }
}
