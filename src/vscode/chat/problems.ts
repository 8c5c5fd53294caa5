import * as vscode from 'vscode';
import { readSettings } from '../../chat/format/settings.ts';
import { isChat } from './chatFiles.ts';
import { chatOf } from './openChats.ts';

const DEBOUNCE_MS = 300;

/** Reports calls, fences and settings that cannot be parsed. */
export class ChatProblems implements vscode.Disposable {
  readonly #shown = vscode.languages.createDiagnosticCollection('filechat');
  readonly #waiting = new Map<vscode.TextDocument, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => this.#look(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#lookSoon(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document)),
    );
    for (const document of vscode.workspace.textDocuments) this.#look(document);
  }

  dispose(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#subscriptions.dispose();
    this.#shown.dispose();
  }

  #lookSoon(document: vscode.TextDocument): void {
    if (!isChat(document.uri)) return;
    clearTimeout(this.#waiting.get(document));
    this.#waiting.set(
      document,
      setTimeout(() => this.#look(document), DEBOUNCE_MS),
    );
  }

  #look(document: vscode.TextDocument): void {
    this.#waiting.delete(document);
    if (document.isClosed || !isChat(document.uri)) return;
    const chat = chatOf(document);
    const problems = [...readSettings(chat).problems, ...chat.problems];
    this.#shown.set(
      document.uri,
      problems.map(({ offset, message }) => {
        const { range } = document.lineAt(document.positionAt(offset));
        return new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning);
      }),
    );
  }

  #forget(document: vscode.TextDocument): void {
    clearTimeout(this.#waiting.get(document));
    this.#waiting.delete(document);
    this.#shown.delete(document.uri);
  }
}
