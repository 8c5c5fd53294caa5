import * as vscode from 'vscode';
import { sameJson } from '../../base/json.ts';
import { chatOf, isChat } from '../chat/chatFiles.ts';
import { watchChats } from '../chat/watch.ts';
import {
  addTurn,
  type ChatTotals,
  type CostView,
  costLine,
  costTooltip,
  findTotal,
  forgetChats,
  type NextRequest,
  type RunTally,
  renameChats,
  runFigures,
  type SpentTurn,
} from './costText.ts';
import { lastMessageStart } from './lensPlan.ts';
import type { Runs } from './runs.ts';

/**
 * Shows the progress of a run beside the turn that is being written. Not in its lens, because VS Code does not update
 * lenses while the text keeps changing.
 */
export function showRunFigures(runs: Runs): vscode.Disposable {
  const style = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor('editorCodeLens.foreground'), margin: '0 0 0 2em' },
  });
  const show = () => {
    for (const editor of vscode.window.visibleTextEditors) {
      const { uri } = editor.document;
      if (isChat(uri)) editor.setDecorations(style, figuresIn(editor.document, runs.tallyOf(uri)));
    }
  };
  return vscode.Disposable.from(style, runs.onDidProgress(show), runs.onDidChange(show));
}

function figuresIn(document: vscode.TextDocument, tally: RunTally | undefined): vscode.DecorationOptions[] {
  if (!tally || tally.seconds === 0) return [];
  // The line of the Stop lens.
  const start = lastMessageStart(document.getText(), chatOf(document));
  const { range } = document.lineAt(document.positionAt(start));
  return [{ range, renderOptions: { after: { contentText: runFigures(tally) } } }];
}

interface CostItemDeps {
  readonly runs: Runs;
  readonly memory: vscode.Memento;
  /** The name of the model that would answer next. */
  readonly modelOf: (document: vscode.TextDocument) => string | undefined;
  /** Estimates the next request without user interaction. */
  readonly estimate: (document: vscode.TextDocument, signal: AbortSignal) => Promise<NextRequest | undefined>;
}

const TOTALS = 'cost.chats';
const DEBOUNCE_MS = 500;
const PRIORITY = 90;

/** Shows the model of the active chat in the status bar, or the progress of its run. */
export class CostItem implements vscode.Disposable {
  readonly #deps: CostItemDeps;
  readonly #item = vscode.window.createStatusBarItem(
    'filechat.cost',
    vscode.StatusBarAlignment.Right,
    PRIORITY,
  );
  readonly #watch = watchChats(DEBOUNCE_MS, (document, signal) => this.#estimate(document, signal));
  readonly #estimated = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable;
  readonly onDidEstimate = this.#estimated.event;
  #tooltip = '';
  #next: { readonly chat: string; readonly request: NextRequest | undefined } | undefined;

  constructor(deps: CostItemDeps) {
    this.#deps = deps;
    this.#item.name = vscode.l10n.t('Filechat: Model, Tokens and Cost');
    this.#item.command = 'filechat.showMenu';
    this.#subscriptions = vscode.Disposable.from(
      this.#item,
      this.#watch,
      this.#estimated,
      vscode.window.onDidChangeActiveTextEditor(() => this.#update()),
      deps.runs.onDidChange(() => this.#update()),
      deps.runs.onDidProgress(() => this.#show()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === chatInActiveEditor()) this.#show();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('filechat')) this.#update();
      }),
      vscode.workspace.onDidRenameFiles(({ files }) => {
        const names = files.map(({ oldUri, newUri }) => [oldUri.toString(), newUri.toString()] as const);
        return this.#change((totals) =>
          names.reduce((all, [from, to]) => renameChats(all, from, to), totals),
        );
      }),
      vscode.workspace.onDidDeleteFiles(({ files }) =>
        this.#change((totals) => files.reduce((all, file) => forgetChats(all, file.toString()), totals)),
      ),
    );
    this.#update();
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  addTurn(chat: vscode.Uri, turn: SpentTurn): Promise<void> {
    return this.#change((totals) => addTurn(totals, chat.toString(), turn));
  }

  async #change(compute: (totals: ChatTotals) => ChatTotals): Promise<void> {
    const before = this.#totals();
    const after = compute(before);
    if (!sameJson(after, before)) await this.#deps.memory.update(TOTALS, after);
    this.#show();
  }

  #totals(): ChatTotals {
    return this.#deps.memory.get<ChatTotals>(TOTALS, []);
  }

  #update(): void {
    this.#show();
    const chat = chatInActiveEditor();
    if (chat) this.#watch.update(chat);
  }

  async #estimate(document: vscode.TextDocument, signal: AbortSignal): Promise<void> {
    // A run changes the text all the time, and its progress is shown instead.
    if (document !== chatInActiveEditor() || this.#deps.runs.isRunning(document.uri)) return;
    // If the chat cannot be sent, a run reports why.
    const request = await this.#deps.estimate(document, signal).catch(() => undefined);
    if (signal.aborted || document !== chatInActiveEditor()) return;
    this.#next = { chat: document.uri.toString(), request };
    this.#show();
    this.#estimated.fire();
  }

  viewOf(document: vscode.TextDocument): CostView {
    const chat = document.uri.toString();
    return {
      model: this.#deps.modelOf(document),
      next: this.#next?.chat === chat ? this.#next.request : undefined,
      total: findTotal(this.#totals(), chat),
      run: this.#deps.runs.tallyOf(document.uri),
    };
  }

  #show(): void {
    const document = chatInActiveEditor();
    if (!document) {
      this.#item.hide();
      return;
    }
    const view = this.viewOf(document);
    const text = costLine(view);
    const tooltip = costTooltip(view);
    // Typing changes neither of them most of the time.
    if (text !== this.#item.text || tooltip !== this.#tooltip) {
      this.#item.text = text;
      // Without icon names, which a screen reader would read aloud.
      const label = ['Filechat', text.replace(/\$\([^)]*\) ?/g, '')].join(': ');
      this.#item.accessibilityInformation = { label };
      this.#item.tooltip = new vscode.MarkdownString(tooltip);
      this.#tooltip = tooltip;
    }
    this.#item.show();
  }
}

function chatInActiveEditor(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document && isChat(document.uri) ? document : undefined;
}
