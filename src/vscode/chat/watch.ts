import * as vscode from 'vscode';
import { asksForReply } from '../../chat/edits/typing.ts';
import { readSettings } from '../../chat/format/frontMatter.ts';
import type { Disposable } from '../../ports/document.ts';
import type { Runs } from '../run/runs.ts';
import { localSentence } from '../ui/coreSentences.ts';
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
  // A damaged chat can have thousands of the same problem.
  const local = new Map<string, string>();
  return [...readSettings(chat).problems, ...chat.problems].map(({ offset, message }) => {
    const { range } = document.lineAt(document.positionAt(offset));
    const words = local.get(message) ?? localSentence(message);
    local.set(message, words);
    return new vscode.Diagnostic(range, words, vscode.DiagnosticSeverity.Warning);
  });
}

/** The cursor follows a keystroke within this time; a later move has another cause. */
const CURSOR_DELAY_MS = 250;

/** The save event may come after the edits of formatters, so a line break only counts as typed after this time. */
const SAVE_DELAY_MS = 400;

/**
 * Runs a chat when the user types an empty `# %% assistant` at its end. A line break that a save adds makes the same
 * change. VS Code's own (insert final newline) moves the cursor back at once, which no keystroke does. A formatter's is
 * recognized by its save event, which comes before or after the edit.
 */
export function watchTyping(
  runs: Pick<Runs, 'isRunning'>,
  run: (document: vscode.TextDocument) => void,
): vscode.Disposable {
  let pending: { document: vscode.TextDocument; version: number; at: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (document: vscode.TextDocument) => {
    if (pending?.document !== document) return;
    pending = undefined;
    clearTimeout(timer);
  };
  const typed = vscode.workspace.onDidChangeTextDocument((event) => {
    const { document, contentChanges } = event;
    // Events without changes report a changed state, such as saved.
    if (contentChanges.length === 0) return;
    cancel(document);
    if (runs.isRunning(document.uri) || !isRequest(event)) return;
    clearTimeout(timer);
    pending = { document, version: document.version, at: performance.now() };
  });
  const moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
    const { document, selection } = textEditor;
    // Letters are reported as Keyboard, the Enter key as undefined.
    const isTyping = kind === undefined || kind === vscode.TextEditorSelectionChangeKind.Keyboard;
    const isActive = textEditor === vscode.window.activeTextEditor;
    const isCurrent = pending?.document === document && pending.version === document.version;
    if (!isCurrent || !isTyping || !isActive) return;
    const isAtEnd = selection.active.line === document.lineCount - 1;
    if (!isAtEnd && kind === undefined) return cancel(document);
    if (!isAtEnd || performance.now() - (pending?.at ?? 0) >= CURSOR_DELAY_MS) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      pending = undefined;
      run(document);
    }, SAVE_DELAY_MS);
  });
  return vscode.Disposable.from(
    typed,
    moved,
    vscode.workspace.onWillSaveTextDocument(({ document }) => cancel(document)),
    // Text typed during the save is not saved yet.
    vscode.workspace.onDidSaveTextDocument((document) => document.isDirty || cancel(document)),
    { dispose: () => clearTimeout(timer) },
  );
}

/** One typed or pasted change, with a line break, that completes an empty `# %% assistant`. */
function isRequest({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): boolean {
  const [change, ...others] = contentChanges;
  if (!change || others.length > 0 || reason !== undefined || !change.text.includes('\n')) return false;
  if (!isChat(document.uri)) return false;
  const { rangeOffset: offset, rangeLength: removedLength, text: inserted } = change;
  return asksForReply(document.getText(), { offset, inserted, removedLength }, chatOf(document));
}
