import * as vscode from 'vscode';
import { CHAT_FILES, chatOf } from '../chat/chatFiles.ts';
import { type LensKind, type PlannedLens, planLenses } from './lensPlan.ts';
import type { Runs } from './runs.ts';

/** VS Code drops a refresh if the editor loses focus before it is done, for example to a dialog. So it is repeated. */
const REMINDERS_MS = [1_000, 4_000];

export function registerLenses(runs: Runs): vscode.Disposable {
  const lens = new RunLens(runs);
  return vscode.Disposable.from(lens, vscode.languages.registerCodeLensProvider(CHAT_FILES, lens));
}

export class RunLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #runs: Pick<Runs, 'isRunning'>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  #reminders: NodeJS.Timeout[] = [];

  constructor(runs: Pick<Runs, 'isRunning' | 'onDidChange'>) {
    this.#runs = runs;
    this.#subscription = runs.onDidChange(() => {
      this.#cancelReminders();
      this.#reminders = REMINDERS_MS.map((ms) => setTimeout(() => this.#changed.fire(), ms));
      this.#changed.fire();
    });
  }

  dispose(): void {
    this.#cancelReminders();
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  #cancelReminders(): void {
    for (const timer of this.#reminders) clearTimeout(timer);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const text = document.getText();
    const uri = document.uri;
    return planLenses(text, chatOf(document), this.#runs.isRunning(uri)).map((lens) => {
      const position = document.positionAt(lens.offset);
      return new vscode.CodeLens(new vscode.Range(position, position), {
        // A plain space behind an icon has no width in a lens.
        title: titleOf(lens).replace(') ', ')\u00a0'),
        tooltip: LENSES[lens.kind].tooltip,
        command: LENSES[lens.kind].command,
        arguments: [{ uri, line: position.line }],
      });
    });
  }
}

const LENSES: Readonly<Record<LensKind, Readonly<Record<'command' | 'title' | 'tooltip', string>>>> = {
  run: {
    command: 'filechat.run',
    title: vscode.l10n.t('$(play) Run'),
    tooltip: vscode.l10n.t('Ask the model'),
  },
  runTools: {
    command: 'filechat.run',
    title: vscode.l10n.t('$(play) Run 1 tool call'),
    tooltip: vscode.l10n.t('Make the calls of this turn; you are asked before'),
  },
  editArguments: {
    command: 'filechat.editArguments',
    title: vscode.l10n.t('$(edit) Edit arguments'),
    tooltip: vscode.l10n.t('Put the cursor into the arguments of the call'),
  },
  resume: {
    command: 'filechat.resume',
    title: vscode.l10n.t('$(debug-continue) Resume'),
    tooltip: vscode.l10n.t('Go on where the reply was cut'),
  },
  stop: {
    command: 'filechat.stop',
    title: vscode.l10n.t('$(debug-stop) Stop'),
    tooltip: vscode.l10n.t('Stop at once and keep what has come'),
  },
  regenerate: {
    command: 'filechat.regenerate',
    title: vscode.l10n.t('$(refresh) Regenerate'),
    tooltip: vscode.l10n.t('Remove this reply and ask for another one; Undo brings it back'),
  },
  fork: {
    command: 'filechat.fork',
    title: vscode.l10n.t('$(repo-forked) Fork'),
    tooltip: vscode.l10n.t('Go on from here in a new chat'),
  },
};

function titleOf({ kind, count = 1 }: PlannedLens): string {
  return count === 1 ? LENSES[kind].title : vscode.l10n.t('$(play) Run {0} tool calls', count);
}
