import * as vscode from 'vscode';
import { describeCount } from '../../model/config/prices.ts';
import { chatOf } from '../chat/openChats.ts';
import { describeSeconds } from '../ui/plainMessage.ts';
import { lastMessageStart } from './lensPlan.ts';
import { type RunState, RunTally } from './totals.ts';

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
