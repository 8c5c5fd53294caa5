import * as vscode from 'vscode';
import { CHAT_FILES, chatOf, withChat } from '../chat/chatFiles.ts';
import type { CallQuestions } from '../consent/callQuestions.ts';
import { type CallLensKind, type CallQuestion, planCallLenses } from '../consent/questionState.ts';
import { buttonsFor, summarize } from '../ui/failureActions.ts';
import { warn } from '../ui/outcomes.ts';
import { plainMessage, truncate } from '../ui/plainMessage.ts';
import { type LensKind, planLenses, rowStart } from './lensPlan.ts';
import type { FailedRun, RunProblem } from './runFailures.ts';
import type { Runs } from './runs.ts';

interface LensDeps {
  readonly runs: Runs;
  readonly questions: CallQuestions;
  /** The name of the model that a chat uses; undefined if there is none. */
  readonly modelOf: (document: vscode.TextDocument) => string | undefined;
}

/** VS Code drops a refresh if the editor loses focus before it is done, for example to a dialog. So it is repeated. */
const REMINDERS_MS = [1_000, 4_000];

export function registerLenses({ runs, questions, modelOf }: LensDeps): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  let reminders: readonly NodeJS.Timeout[] = [];
  const dispose = () => {
    for (const timer of reminders) clearTimeout(timer);
  };
  const refresh = () => {
    dispose();
    reminders = REMINDERS_MS.map((ms) => setTimeout(() => changed.fire(), ms));
    changed.fire();
  };
  return vscode.Disposable.from(
    changed,
    { dispose },
    runs.onDidChange(refresh),
    questions.onDidChange(refresh),
    vscode.languages.registerCodeLensProvider(CHAT_FILES, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: (document) => {
        const isRunning = runs.isRunning(document.uri);
        const failed = isRunning ? undefined : runs.failures.of(document);
        const failures = failureLenses(document, failed);
        const others = lensesOf(document, isRunning, modelOf(document));
        // If only servers failed, the reply has arrived. A narrow window cuts the end of the row.
        const first = failed?.problems.every(({ failure }) => failure?.kind === 'server')
          ? others.filter(({ command }) => NEXT_STEPS.has(command?.command ?? ''))
          : [];
        const rest = others.filter((lens) => !first.includes(lens));
        return [
          ...first,
          ...failures,
          // One way to another model is enough, and a row is short.
          ...(failures.some(selectsModel) ? rest.filter((lens) => !selectsModel(lens)) : rest),
          ...callLenses(document, questions.of(document.uri)),
        ];
      },
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('filechat')) changed.fire();
    }),
    vscode.commands.registerCommand(SHOW_FAILURE, (argument: unknown) =>
      withChat(argument, async (document, { problem }) => {
        const found = runs.failures.of(document);
        const shown = found?.problems[Number(problem)];
        if (found && shown) await warn(outcomeOf(shown), found.place);
      }),
    ),
  );
}

const NEXT_STEPS: ReadonlySet<string> = new Set(['filechat.run', 'filechat.resume']);

function selectsModel({ command }: vscode.CodeLens): boolean {
  return command?.command === 'filechat.selectModel';
}

/** Not in the command palette. */
const SHOW_FAILURE = 'filechat.showFailure';

function outcomeOf({ message, failure }: RunProblem) {
  return { ok: false, error: message, failure, assets: [] };
}

/** What failed and what can be done about it, in front of the other lenses of the last turn. */
function failureLenses(document: vscode.TextDocument, failed: FailedRun | undefined): vscode.CodeLens[] {
  const offset = rowStart(document.getText(), chatOf(document));
  if (!failed || offset === undefined) return [];
  const { problems } = failed;
  const servers = problems.filter(({ failure }) => failure?.kind === 'server');
  // One row has no room for the buttons of several servers.
  const [shown, others] =
    servers.length > 1
      ? [problems.filter((each) => !servers.includes(each)), [failedServers(servers)]]
      : [problems, []];
  const commands = shown.flatMap((each) => problemLenses(document.uri, failed, each));
  return [...commands, ...others].map((command) => createLens(document, offset, command));
}

function problemLenses(uri: vscode.Uri, { problems, place }: FailedRun, shown: RunProblem): vscode.Command[] {
  const { failure, message } = shown;
  const summary = failure ? summarize(failure) : t('Run failed');
  return [
    {
      title: `$(warning) ${plainMessage(summary)}`,
      tooltip: message,
      command: SHOW_FAILURE,
      arguments: [{ uri, problem: problems.indexOf(shown) }],
    },
    ...(failure ? buttonsFor(failure, place) : [])
      // Another lens of the row shows the model.
      .filter(({ action }, at) => !ONLY_IN_MESSAGES.has(action) && (action !== 'selectModel' || at === 0))
      .map(({ icon, title, command, arguments: args = [] }) => ({
        title: `$(${icon}) ${title}`,
        command,
        arguments: args,
      })),
  ];
}

/** The view has the reason and the buttons of each. */
function failedServers(servers: readonly RunProblem[]): vscode.Command {
  return {
    title: t('$(warning) {0} servers failed', servers.length),
    tooltip: servers.map(({ message }) => message).join('\n'),
    command: 'filechat.servers.focus',
  };
}

/** The row runs the chat anyway, and is too short for a third way out. */
const ONLY_IN_MESSAGES: ReadonlySet<string> = new Set(['tryAgain', 'resume', 'showBreakdown']);

function createLens(document: vscode.TextDocument, offset: number, command: vscode.Command): vscode.CodeLens {
  const position = document.positionAt(offset);
  // A plain space after an icon has no width in a lens.
  const title = command.title.replace(') ', ')\u00a0');
  return new vscode.CodeLens(new vscode.Range(position, position), { ...command, title });
}

const MAX_MODEL_CHARS = 40;

/** Exported for tests. */
export function lensesOf(
  document: vscode.TextDocument,
  isRunning: boolean,
  model?: string | undefined,
): vscode.CodeLens[] {
  const { uri } = document;
  const planned = planLenses(document.getText(), chatOf(document), isRunning);
  return planned.map(({ kind, offset, about = offset, count = 1, resource }) => {
    const { line } = document.positionAt(about);
    const [command, own, tooltip] = LENSES[kind];
    const one = kind === 'model' && model !== undefined ? modelTitle(model) : own;
    return createLens(document, offset, {
      title: count === 1 ? one : t('$(play) Run {0} Tool Calls', count),
      tooltip,
      command: `filechat.${command}`,
      arguments: [resource ? { ...resource, into: uri } : { uri, line }],
    });
  });
}

function modelTitle(model: string): string {
  return `$(hubot) ${truncate(plainMessage(model), MAX_MODEL_CHARS)}`;
}

const { t } = vscode.l10n;

const LENSES: Readonly<Record<LensKind, readonly [command: string, title: string, tooltip: string]>> = {
  model: ['selectModel', t('$(hubot) Select Model…'), t('Select the model of this chat')],
  run: ['run', t('$(play) Run'), t('Send the chat to the model')],
  runTools: [
    'run',
    t('$(play) Run 1 Tool Call'),
    t('Run the tool calls of this turn. You are asked for permission first.'),
  ],
  editArguments: [
    'editArguments',
    t('$(edit) Edit Arguments'),
    t('Move the cursor to the arguments of the call'),
  ],
  resume: ['resume', t('$(debug-continue) Resume'), t('Continue the interrupted reply')],
  stop: ['stop', t('$(debug-stop) Stop'), t('Stop now and keep the reply so far')],
  regenerate: [
    'regenerate',
    t('$(refresh) Regenerate'),
    t('Remove this reply and generate a new one. Undo restores it.'),
  ],
  readResource: [
    'readResource',
    t('$(cloud-download) Read into Chat'),
    t('Read this resource into your message; its files are saved beside the chat'),
  ],
  retry: ['retry', t('$(refresh) Retry'), t('Save the files that could not be saved')],
  fork: ['fork', t('$(repo-forked) Fork'), t('Continue from here in a new chat')],
};

/** The answers that can be given above a call that waits for permission. */
function callLenses(document: vscode.TextDocument, questions: readonly CallQuestion[]): vscode.CodeLens[] {
  if (questions.length === 0) return [];
  const { uri } = document;
  return planCallLenses(chatOf(document), questions).map(({ offset, kind, id, count }) => {
    const [command, title, tooltip, more] = CALL_LENSES[kind];
    const { line } = document.positionAt(offset);
    return createLens(document, offset, {
      title: title.replace('{0}', String(count)),
      tooltip,
      command: `filechat.${command}`,
      arguments: [{ uri, id, line, ...more }],
    });
  });
}

const CALL_LENSES: Readonly<
  Record<CallLensKind, readonly [command: string, title: string, tooltip: string, more?: object]>
> = {
  showChanges: [
    'showToolChanges',
    t('$(diff) Show Changes'),
    t('Compare the definition of this tool with the one that you allowed'),
  ],
  allow: ['allowCall', t('$(check) Allow Once'), t('Call the tool with the arguments below')],
  always: [
    'allowCall',
    t('Always Allow…'),
    t('Call the tool, and always allow it or all tools of its server'),
    { always: true },
  ],
  edit: [
    'editArguments',
    t('Edit Arguments'),
    t('Move the cursor to the arguments. The call stays pending.'),
  ],
  decline: ['declineCall', t('Decline…'), t('Do not call the tool, and write the reason below')],
  allowAll: [
    'allowCall',
    t('$(check-all) Allow All ({0})'),
    t('Allow all pending calls in this chat once'),
    { all: true },
  ],
};
