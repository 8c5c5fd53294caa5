import * as vscode from 'vscode';
import { chatOf } from '../chat/openChats.ts';
import { type LensKind, type PlannedLens, planLenses } from './lensPlan.ts';

export const CHAT_FILES: vscode.DocumentSelector = { pattern: '**/*.chat.md' };

/** VS Code drops a refresh if the editor loses focus before it is done, for example to a dialog. So it is repeated. */
const REMINDERS_MS = [1_000, 4_000];

/** Run, Stop, Resume, Regenerate and Fork above their turns. */
export class RunLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #isRunning: (chat: vscode.Uri) => boolean;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  #reminders: NodeJS.Timeout[] = [];

  constructor(isRunning: (chat: vscode.Uri) => boolean) {
    this.#isRunning = isRunning;
  }

  dispose(): void {
    for (const timer of this.#reminders) clearTimeout(timer);
    this.#changed.dispose();
  }

  /** Call this when a run has started or ended. */
  refresh(): void {
    for (const timer of this.#reminders) clearTimeout(timer);
    this.#reminders = REMINDERS_MS.map((ms) => setTimeout(() => this.#changed.fire(), ms));
    this.#changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const text = document.getText();
    const uri = document.uri;
    return planLenses(text, chatOf(document), this.#isRunning(uri)).map((lens) => {
      const position = document.positionAt(lens.offset);
      return new vscode.CodeLens(new vscode.Range(position, position), {
        // A plain space behind an icon has no width in a lens.
        title: titleOf(lens).replace(') ', ')\u00a0'),
        tooltip: tooltipOf(lens),
        command: COMMANDS[lens.kind],
        arguments: [{ uri, line: position.line }],
      });
    });
  }
}

const COMMANDS: Readonly<Record<LensKind, string>> = {
  run: 'filechat.run',
  runTools: 'filechat.run',
  editArguments: 'filechat.editArguments',
  resume: 'filechat.resume',
  stop: 'filechat.stop',
  regenerate: 'filechat.regenerate',
  fork: 'filechat.fork',
};

function titleOf({ kind, count = 1 }: PlannedLens): string {
  switch (kind) {
    case 'run':
      return vscode.l10n.t('$(play) Run');
    case 'runTools':
      return count === 1
        ? vscode.l10n.t('$(play) Run 1 tool call')
        : vscode.l10n.t('$(play) Run {0} tool calls', count);
    case 'editArguments':
      return vscode.l10n.t('$(edit) Edit arguments');
    case 'resume':
      return vscode.l10n.t('$(debug-continue) Resume');
    case 'stop':
      return vscode.l10n.t('$(debug-stop) Stop');
    case 'regenerate':
      return vscode.l10n.t('$(refresh) Regenerate');
    case 'fork':
      return vscode.l10n.t('$(repo-forked) Fork');
  }
}

function tooltipOf({ kind }: PlannedLens): string {
  switch (kind) {
    case 'run':
      return vscode.l10n.t('Ask the model');
    case 'runTools':
      return vscode.l10n.t('Make the calls of this turn; you are asked before');
    case 'editArguments':
      return vscode.l10n.t('Put the cursor into the arguments of the call');
    case 'resume':
      return vscode.l10n.t('Go on where the reply was cut');
    case 'stop':
      return vscode.l10n.t('Stop at once and keep what has come');
    case 'regenerate':
      return vscode.l10n.t('Remove this reply and ask for another one; Undo brings it back');
    case 'fork':
      return vscode.l10n.t('Go on from here in a new chat');
  }
}
