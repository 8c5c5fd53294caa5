import * as vscode from 'vscode';
import { renderToolName } from '../chat/toolCall.ts';
import { ChatListener } from '../listener.ts';
import type {
  AssetStore,
  Consent,
  FileArguments,
  Log,
  RunOutcome,
  ToolCall,
  ToolHost,
  ToolProgress,
} from '../ports.ts';
import { moveToEnd } from './chatFiles.ts';
import { EditorDocument } from './editorDocument.ts';
import { plainMessage } from './plainMessage.ts';

export interface RunParts {
  readonly tools: ToolHost;
  readonly consent: Consent;
  readonly log: Log;
  readonly assetsFor: (uri: vscode.Uri) => Promise<AssetStore>;
  readonly filesFor: (uri: vscode.Uri) => FileArguments;
}

interface Run {
  readonly document: EditorDocument;
  listener?: ChatListener;
}

/** What runs now: one turn loop a document at a time, with a notification that can cancel it. */
export class Runs {
  readonly #parts: RunParts;
  readonly #running = new Set<Run>();

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  async start(
    document: vscode.TextDocument,
    title: string,
    work: (listener: ChatListener) => Promise<RunOutcome>,
  ): Promise<RunOutcome> {
    if (this.#find(document.uri)) return { ok: false, error: ALREADY_RUNNING, assets: [] };
    const run: Run = { document: new EditorDocument(document) };
    this.#running.add(run);
    this.showState();
    const follower = new EndFollower(document);
    try {
      const options = {
        location: vscode.ProgressLocation.Notification,
        title: 'Filechat',
        cancellable: true,
      };
      return await vscode.window.withProgress(options, async (progress, token) => {
        progress.report({ message: plainMessage(title) });
        const listener = await this.#listen(run, progress);
        const cancelled = token.onCancellationRequested(() => listener.stop());
        return work(listener).finally(() => cancelled.dispose());
      });
    } finally {
      this.#running.delete(run);
      run.document.dispose();
      follower.finish();
      this.showState();
    }
  }

  stop(uri: vscode.Uri): void {
    this.#find(uri)?.listener?.stop();
  }

  /** Whether any chat of a folder runs. */
  isRunningIn(folder: vscode.Uri): boolean {
    return [...this.#running].some(
      (run) => vscode.Uri.joinPath(run.document.uri, '..').toString() === folder.toString(),
    );
  }

  stopAll(): void {
    for (const run of this.#running) run.listener?.stop();
  }

  /** The button in the title bar is Stop while the chat in front runs, else Run. */
  showState(): void {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const running = uri !== undefined && this.#find(uri) !== undefined;
    void vscode.commands.executeCommand('setContext', 'filechat.running', running);
  }

  #find(uri: vscode.Uri): Run | undefined {
    return [...this.#running].find((run) => run.document.uri.toString() === uri.toString());
  }

  async #listen(run: Run, progress: ProgressReport): Promise<ChatListener> {
    const { assetsFor, filesFor, ...parts } = this.#parts;
    run.listener = new ChatListener({
      ...parts,
      document: run.document,
      assets: await assetsFor(run.document.uri),
      files: filesFor(run.document.uri),
      onProgress: reportTo(progress),
      rescue: (markdown) => void openUntitled(markdown),
    });
    return run.listener;
  }
}

const ALREADY_RUNNING = 'This chat is running already. Stop it first, or wait.';

type ProgressReport = vscode.Progress<{ message?: string; increment?: number }>;

function reportTo(progress: ProgressReport) {
  let reported = 0;
  return (call: ToolCall, { message, done, total }: ToolProgress) => {
    const percent = done !== undefined && total ? Math.min(100, (done / total) * 100) : reported;
    const increment = Math.max(0, percent - reported);
    reported = Math.max(reported, percent);
    progress.report({
      message: plainMessage(`${renderToolName(call)}${message ? `: ${message}` : ''}`),
      increment,
    });
  };
}

/** A result whose chat is gone is still the user's. */
async function openUntitled(markdown: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: markdown });
  await vscode.window.showTextDocument(document, { preserveFocus: true });
}

/** Who reads at the end wants to go on reading at the end; whoever moves away meanwhile is left alone. */
class EndFollower {
  readonly #editors: Set<vscode.TextEditor>;
  readonly #moved: vscode.Disposable;

  constructor(document: vscode.TextDocument) {
    const atEnd = (editor: vscode.TextEditor) => editor.selection.active.line >= document.lineCount - 2;
    this.#editors = new Set(
      vscode.window.visibleTextEditors.filter((editor) => editor.document === document && atEnd(editor)),
    );
    this.#moved = vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
      // Our own edits move the cursor too, but not by keyboard, mouse or command.
      if (kind !== undefined) this.#editors.delete(textEditor);
    });
  }

  finish(): void {
    this.#moved.dispose();
    for (const editor of this.#editors) moveToEnd(editor);
  }
}
