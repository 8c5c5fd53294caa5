import * as vscode from 'vscode';
import { readSettings } from '../../chat/format/settings.ts';
import type { Disposable } from '../../ports/document.ts';
import { chatOf, isChat } from './chatFiles.ts';

interface ChatWatch extends Disposable {
  update(document: vscode.TextDocument, delayMs?: number): void;
}

/**
 * Calls `render` after each pause in typing, and after `update`. The signal is aborted when the chat changes or is
 * closed and when the watch is disposed: then the result is outdated.
 */
export function watchChats(
  delayMs: number,
  render: (chat: vscode.TextDocument, signal: AbortSignal) => Promise<void>,
): ChatWatch {
  const pending = new Map<vscode.TextDocument, AbortController>();
  const cancel = (document: vscode.TextDocument) => {
    pending.get(document)?.abort();
    pending.delete(document);
  };
  const update = (document: vscode.TextDocument, ms = delayMs) => {
    if (!isChat(document.uri)) return;
    cancel(document);
    const controller = new AbortController();
    const { signal } = controller;
    pending.set(document, controller);
    const timer = setTimeout(() => void render(document, signal), ms);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  };
  const subscriptions = vscode.Disposable.from(
    vscode.workspace.onDidChangeTextDocument(({ document }) => update(document)),
    vscode.workspace.onDidCloseTextDocument(cancel),
    { dispose: () => [...pending.keys()].forEach(cancel) },
  );
  return { update, dispose: () => subscriptions.dispose() };
}

const DEBOUNCE_MS = 300;

interface DiagnosticsOptions {
  readonly openDelayMs?: number;
  /** Fires when all chats must be checked again. */
  readonly onDidInvalidate?: (listener: () => void) => Disposable;
}

export function watchDiagnostics(
  name: string,
  find: (chat: vscode.TextDocument) => Promise<readonly vscode.Diagnostic[]>,
  { openDelayMs = DEBOUNCE_MS, onDidInvalidate }: DiagnosticsOptions = {},
): vscode.Disposable {
  const shown = vscode.languages.createDiagnosticCollection(name);
  const watch = watchChats(DEBOUNCE_MS, async (chat, signal) => {
    const found = await find(chat);
    if (!signal.aborted) shown.set(chat.uri, found);
  });
  const checkAll = (delayMs?: number) => {
    for (const document of vscode.workspace.textDocuments) watch.update(document, delayMs);
  };
  checkAll(openDelayMs);
  return vscode.Disposable.from(
    watch,
    shown,
    vscode.workspace.onDidOpenTextDocument((document) => watch.update(document, openDelayMs)),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => shown.delete(uri)),
    ...(onDidInvalidate ? [onDidInvalidate(() => checkAll())] : []),
  );
}

/** Reports calls, fences and settings that cannot be parsed. */
export function watchProblems(): vscode.Disposable {
  return watchDiagnostics('filechat', findProblems, { openDelayMs: 0 });
}

async function findProblems(document: vscode.TextDocument): Promise<readonly vscode.Diagnostic[]> {
  const chat = chatOf(document);
  return [...readSettings(chat).problems, ...chat.problems].map(({ offset, message }) => {
    const { range } = document.lineAt(document.positionAt(offset));
    return new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning);
  });
}
