import * as vscode from 'vscode';
import type { ArgumentProblem } from '../../mcp/callArguments/help.ts';
import type { ServerHost } from '../../ports/servers.ts';

import { isChat } from '../chat/chatFiles.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type PendingCall, pendingCallsIn, rangeOf, type ToolHelp } from './argumentHelp.ts';

const DEBOUNCE_MS = 300;

/** Reports arguments of pending calls that do not match the schema. The calls can still run. */
export class ArgumentProblems implements vscode.Disposable {
  readonly #help: ToolHelp;
  readonly #shown = vscode.languages.createDiagnosticCollection('filechat-arguments');
  readonly #waiting = new Map<vscode.TextDocument, NodeJS.Timeout>();
  readonly #subscriptions: readonly { dispose(): void }[];

  constructor(help: ToolHelp, servers: Pick<ServerHost, 'onDidChange'>) {
    this.#help = help;
    this.#subscriptions = [
      vscode.workspace.onDidOpenTextDocument((document) => this.#lookSoon(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#lookSoon(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#forget(document)),
      // A server that has started may have sent new schemas.
      servers.onDidChange(() => this.#lookAtAll()),
    ];
    this.#lookAtAll();
  }

  dispose(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    for (const each of this.#subscriptions) each.dispose();
    this.#shown.dispose();
  }

  #lookAtAll(): void {
    for (const document of vscode.workspace.textDocuments) this.#lookSoon(document);
  }

  #lookSoon(document: vscode.TextDocument): void {
    if (!isChat(document.uri)) return;
    clearTimeout(this.#waiting.get(document));
    this.#waiting.set(
      document,
      setTimeout(() => void this.#look(document), DEBOUNCE_MS),
    );
  }

  async #look(document: vscode.TextDocument): Promise<void> {
    this.#waiting.delete(document);
    if (document.isClosed) return;
    const { version } = document;
    const calls = pendingCallsIn(document);
    const found = await Promise.all(calls.map((call) => this.#check(document, call)));
    // The change has scheduled another check.
    if (document.isClosed || document.version !== version) return;
    this.#shown.set(document.uri, found.flat());
  }

  async #check(document: vscode.TextDocument, pending: PendingCall): Promise<readonly vscode.Diagnostic[]> {
    const { version } = document;
    const help = await this.#help.of(pending.call);
    const problems = (await help?.check(pending.call.argumentsText)) ?? [];
    if (document.version !== version) return [];
    return problems.map((problem) => {
      const range = rangeOf(document, pending, problem);
      const message = plainMessage(describe(problem));
      const diagnostic = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning);
      diagnostic.source = 'Filechat';
      return diagnostic;
    });
  }

  #forget(document: vscode.TextDocument): void {
    clearTimeout(this.#waiting.get(document));
    this.#waiting.delete(document);
    this.#shown.delete(document.uri);
  }
}

function describe({ kind, subject, message }: ArgumentProblem): string {
  const { t } = vscode.l10n;
  switch (kind) {
    case 'missing':
      return t('The argument “{0}” is missing.', subject);
    case 'unknown':
      return t('The tool has no argument “{0}”.', subject);
    case 'type':
      return t('The tool expects another type here: {0}.', subject);
    case 'syntax':
      return t('The arguments are not valid JSON: {0}', message);
    default:
      return message;
  }
}
