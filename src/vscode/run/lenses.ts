import * as vscode from 'vscode';
import { CHAT_FILES, chatOf } from '../chat/chatFiles.ts';
import { type LensKind, planLenses } from './lensPlan.ts';
import type { Runs } from './runs.ts';

/** VS Code drops a refresh if the editor loses focus before it is done, for example to a dialog. So it is repeated. */
const REMINDERS_MS = [1_000, 4_000];

export function registerLenses(runs: Runs): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  let reminders: readonly NodeJS.Timeout[] = [];
  const dispose = () => {
    for (const timer of reminders) clearTimeout(timer);
  };
  return vscode.Disposable.from(
    changed,
    { dispose },
    runs.onDidChange(() => {
      dispose();
      reminders = REMINDERS_MS.map((ms) => setTimeout(() => changed.fire(), ms));
      changed.fire();
    }),
    vscode.languages.registerCodeLensProvider(CHAT_FILES, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: (document) => lensesOf(document, runs.isRunning(document.uri)),
    }),
  );
}

/** Exported for tests. */
export function lensesOf(document: vscode.TextDocument, isRunning: boolean): vscode.CodeLens[] {
  const { uri } = document;
  const planned = planLenses(document.getText(), chatOf(document), isRunning);
  return planned.map(({ kind, offset, count = 1, resource }) => {
    const position = document.positionAt(offset);
    const [command, one, tooltip] = LENSES[kind];
    const title = count === 1 ? one : t('$(play) Run {0} tool calls', count);
    return new vscode.CodeLens(new vscode.Range(position, position), {
      // A plain space behind an icon has no width in a lens.
      title: title.replace(') ', ')\u00a0'),
      tooltip,
      command: `filechat.${command}`,
      arguments: [resource ? { ...resource, into: uri } : { uri, line: position.line }],
    });
  });
}

const { t } = vscode.l10n;

const LENSES: Readonly<Record<LensKind, readonly [command: string, title: string, tooltip: string]>> = {
  run: ['run', t('$(play) Run'), t('Ask the model')],
  runTools: ['run', t('$(play) Run 1 tool call'), t('Make the calls of this turn; you are asked before')],
  editArguments: [
    'editArguments',
    t('$(edit) Edit arguments'),
    t('Put the cursor into the arguments of the call'),
  ],
  resume: ['resume', t('$(debug-continue) Resume'), t('Go on where the reply was cut')],
  stop: ['stop', t('$(debug-stop) Stop'), t('Stop at once and keep what has come')],
  regenerate: [
    'regenerate',
    t('$(refresh) Regenerate'),
    t('Remove this reply and ask for another one; Undo brings it back'),
  ],
  readResource: [
    'readResource',
    t('$(cloud-download) Read into Chat'),
    t('Read this resource into your message; its files are saved beside the chat'),
  ],
  retry: ['retry', t('$(refresh) Retry'), t('Save the files that could not be saved')],
  fork: ['fork', t('$(repo-forked) Fork'), t('Go on from here in a new chat')],
};
