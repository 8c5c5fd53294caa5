import * as vscode from 'vscode';
import { describeCount } from '../../model/config/prices.ts';
import { chatOf, isChat } from '../chat/chatFiles.ts';
import { renamedPath } from '../chat/paths.ts';
import { describeSeconds } from '../ui/elapsed.ts';
import {
  addTurn,
  type ChatTotals,
  costLine,
  costTooltip,
  findTotal,
  forgetChats,
  type NextRequest,
  type RunState,
  RunTally,
  renameChats,
  type SpentTurn,
} from './costText.ts';
import { lastMessageStart } from './lensPlan.ts';

const TICK_MS = 1_000;

/**
 * Shows the elapsed time and the tokens of a run beside the turn that is being written. Not in its lens, because VS
 * Code does not update lenses while the text keeps changing.
 */
export class RunFigures implements vscode.Disposable {
  readonly #style = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor('editorCodeLens.foreground'), margin: '0 0 0 2em' },
  });
  readonly #running = new Map<string, RunTally>();
  #tick: NodeJS.Timeout | undefined;

  dispose(): void {
    clearInterval(this.#tick);
    this.#style.dispose();
  }

  started(chat: vscode.Uri): void {
    this.#running.set(chat.toString(), new RunTally(Date.now()));
    this.#tick ??= setInterval(() => this.#show(), TICK_MS);
  }

  changed(chat: vscode.Uri, state: RunState): void {
    this.#running.get(chat.toString())?.update(state);
  }

  ended(chat: vscode.Uri): void {
    this.#running.delete(chat.toString());
    for (const editor of editorsOf(chat.toString())) editor.setDecorations(this.#style, []);
    if (this.#running.size > 0) return;
    clearInterval(this.#tick);
    this.#tick = undefined;
  }

  #show(): void {
    for (const [chat, tally] of this.#running) {
      for (const editor of editorsOf(chat)) this.#showIn(editor, tally);
    }
  }

  #showIn(editor: vscode.TextEditor, tally: RunTally): void {
    const { document } = editor;
    // The line of the Stop lens.
    const start = lastMessageStart(document.getText(), chatOf(document));
    const { range } = document.lineAt(document.positionAt(start));
    editor.setDecorations(this.#style, [
      { range, renderOptions: { after: { contentText: describe(tally) } } },
    ]);
  }
}

function describe(tally: RunTally): string {
  const { tokens } = tally;
  const time = describeSeconds(tally.seconds(Date.now()));
  return tokens === 0 ? time : vscode.l10n.t('{0} · ≈{1} tokens', time, describeCount(tokens));
}

function editorsOf(chat: string): readonly vscode.TextEditor[] {
  return vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === chat);
}

interface CostItemDeps {
  readonly memory: vscode.Memento;
  /** Estimates the next request without user interaction. */
  readonly estimate: (document: vscode.TextDocument, signal: AbortSignal) => Promise<NextRequest | undefined>;
}

const TOTALS = 'cost.chats';
const DEBOUNCE_MS = 500;
const COST_TICK_MS = 1_000;
const PRIORITY = 90;

interface RunningChat {
  readonly startedAt: number;
  model?: string;
  state?: RunState | undefined;
}

/** Shows the cost of the active chat in the status bar, or the progress of its run. */
export class CostItem implements vscode.Disposable {
  readonly #deps: CostItemDeps;
  readonly #item: vscode.StatusBarItem;
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #running = new Map<string, RunningChat>();
  #next: { readonly chat: string; readonly request: NextRequest | undefined } | undefined;
  #estimating: AbortController | undefined;
  #debounce: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  constructor(deps: CostItemDeps) {
    this.#deps = deps;
    this.#item = vscode.window.createStatusBarItem(
      'filechat.cost',
      vscode.StatusBarAlignment.Right,
      PRIORITY,
    );
    this.#item.name = vscode.l10n.t('Filechat: Tokens and Cost');
    this.#item.command = 'filechat.showBreakdown';
    this.#subscriptions = [
      this.#item,
      vscode.window.onDidChangeActiveTextEditor(() => this.#update()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === chatInActiveEditor()) this.#estimateSoon();
      }),
      vscode.workspace.onDidRenameFiles(({ files }) => void this.#follow(files)),
      vscode.workspace.onDidDeleteFiles(({ files }) => void this.#forget(files)),
    ];
    this.#update();
  }

  dispose(): void {
    clearTimeout(this.#debounce);
    clearInterval(this.#tick);
    this.#estimating?.abort();
    for (const each of this.#subscriptions) each.dispose();
  }

  runStarted(chat: vscode.Uri): void {
    this.#running.set(chat.toString(), { startedAt: Date.now() });
    this.#tick ??= setInterval(() => this.#show(), COST_TICK_MS);
    this.#show();
  }

  runEnded(chat: vscode.Uri): void {
    this.#running.delete(chat.toString());
    if (this.#running.size === 0) {
      clearInterval(this.#tick);
      this.#tick = undefined;
    }
    this.#update();
  }

  runChanged(chat: vscode.Uri, state: RunState): void {
    const run = this.#running.get(chat.toString());
    if (!run) return;
    const sameKind = run.state?.kind === state.kind;
    if (state.kind === 'asking') run.model = state.model;
    run.state = state;
    // Counts change too fast to read; the next tick shows them.
    if (!sameKind || state.kind === 'waiting') this.#show();
  }

  async addTurn(chat: vscode.Uri, turn: SpentTurn): Promise<void> {
    await this.#deps.memory.update(TOTALS, addTurn(this.#totals(), chat.toString(), turn));
    this.#show();
  }

  #totals(): ChatTotals {
    return this.#deps.memory.get<ChatTotals>(TOTALS, []);
  }

  async #follow(files: vscode.FileRenameEvent['files']): Promise<void> {
    const before = this.#totals();
    const names = files.map(({ oldUri, newUri }) => [oldUri.toString(), newUri.toString()] as const);
    const after = names.reduce((totals, [from, to]) => renameChats(totals, from, to), before);
    for (const [from, to] of names) {
      for (const [chat, run] of [...this.#running]) {
        this.#running.delete(chat);
        this.#running.set(renamedPath(chat, from, to) ?? chat, run);
      }
    }
    const changed = after.some((each, at) => each.chat !== before[at]?.chat);
    if (changed) await this.#deps.memory.update(TOTALS, after);
    this.#show();
  }

  async #forget(files: readonly vscode.Uri[]): Promise<void> {
    const before = this.#totals();
    const after = files.reduce<ChatTotals>((totals, file) => forgetChats(totals, file.toString()), before);
    if (after.length < before.length) await this.#deps.memory.update(TOTALS, after);
    this.#show();
  }

  #update(): void {
    const chat = chatInActiveEditor()?.uri.toString();
    if (chat !== this.#next?.chat) this.#next = undefined;
    this.#show();
    if (chat !== undefined) this.#estimateSoon();
  }

  #estimateSoon(): void {
    clearTimeout(this.#debounce);
    this.#debounce = setTimeout(() => void this.#estimate(), DEBOUNCE_MS);
  }

  async #estimate(): Promise<void> {
    const document = chatInActiveEditor();
    // A run changes the text all the time, and its progress is shown instead.
    if (!document || this.#running.has(document.uri.toString())) return;
    this.#estimating?.abort();
    const estimating = new AbortController();
    this.#estimating = estimating;
    // If the chat cannot be sent, a run reports why.
    const request = await this.#deps.estimate(document, estimating.signal).catch(() => undefined);
    if (estimating.signal.aborted) return;
    this.#next = { chat: document.uri.toString(), request };
    this.#show();
  }

  #show(): void {
    const chat = chatInActiveEditor()?.uri.toString();
    if (chat === undefined) {
      this.#item.hide();
      return;
    }
    const run = this.#running.get(chat);
    const view = {
      next: this.#next?.chat === chat ? this.#next.request : undefined,
      total: findTotal(this.#totals(), chat),
      run: run && { ...run, elapsedMs: Date.now() - run.startedAt },
    };
    this.#item.text = costLine(view);
    // Without icon names, which a screen reader would read aloud.
    const label = ['Filechat', this.#item.text.replace(/\$\([^)]*\) ?/g, '')].join(': ');
    this.#item.accessibilityInformation = { label };
    this.#item.tooltip = new vscode.MarkdownString(costTooltip(view));
    this.#item.show();
  }
}

function chatInActiveEditor(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document && isChat(document.uri) ? document : undefined;
}
