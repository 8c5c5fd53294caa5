import * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { quoteDiff, quoteLines, quoteProblems, quoteTerminal } from '../../chat/edits/fileLink.ts';
import { renderLineRange } from '../../chat/format/lineRange.ts';
import { insertAtCaret, showInUserTurn } from '../chat/chatCommands.ts';
import { isChat, withChat } from '../chat/chatFiles.ts';
import { linkToFile } from '../chat/paths.ts';
import { failed, tell } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { createItem, type RequestAt, sortKey } from './request.ts';
import { linesOf } from './symbols.ts';

/** What the user last selected outside of chats. */
interface LastSelection {
  readonly document: vscode.TextDocument;
  readonly range: vscode.Range;
}

interface TerminalRun {
  readonly execution: vscode.TerminalShellExecution;
  output: string;
  exitCode?: number | undefined;
}

const MAX_OUTPUT_CHARS = 200_000;
/** Of a longer selection, the lines are attached. */
const MAX_SELECTION_CHARS = 200_000;
const MAX_FILES_WITH_PROBLEMS = 10;
/** Git may wait for a network drive, or for a filter of the repository. */
const MAX_DIFF_MS = 30_000;

/** Not in the command palette. */
const INSERT_DIFF = 'filechat.insertDiff';

/**
 * Offers what the editor shows at this moment: the selection, problems, the changes in Git and the output of the last
 * command. It is copied into the chat, so that the file says what was sent.
 */
export class EditorSnapshots implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable;
  #selection: LastSelection | undefined;
  #run: TerminalRun | undefined;

  constructor() {
    const note = (editor: vscode.TextEditor | undefined) => {
      if (editor && isSource(editor.document))
        this.#selection = { document: editor.document, range: editor.selection };
    };
    vscode.window.visibleTextEditors.forEach(note);
    this.#subscriptions = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor(note),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => note(textEditor)),
      vscode.window.onDidStartTerminalShellExecution(({ execution }) => void this.#record(execution)),
      vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
        if (this.#run?.execution === execution) this.#run.exitCode = exitCode;
      }),
      vscode.commands.registerCommand(INSERT_DIFF, (argument: unknown) => withChat(argument, insertDiff)),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  items(request: RequestAt<'file'>): vscode.CompletionItem[] {
    return [
      ...this.#selectionItems(request),
      ...diffItems(request),
      ...this.#terminalItems(request),
      ...problemItems(request, this.#selection?.document.uri),
    ];
  }

  #selectionItems(request: RequestAt<'file'>): vscode.CompletionItem[] {
    const { document, range } = this.#selection ?? {};
    if (!document || !range || document.isClosed || range.isEmpty) return [];
    const file = vscode.workspace.asRelativePath(document.uri);
    const { first, last } = linesOf(range);
    const fragment = renderLineRange({ first, last });
    const about = `${file}${fragment}`;
    if (document.offsetAt(range.end) - document.offsetAt(range.start) > MAX_SELECTION_CHARS) {
      const text = linkToFile(request.document.uri, document.uri, { fragment });
      const detail = vscode.l10n.t('Attach the selected lines');
      return document.isUntitled
        ? []
        : [snapshotItem(request, 'selection', { about, text, detail, group: '0' })];
    }
    const lines = { firstLine: first, lastLine: last };
    const text = quoteLines({ file, ...lines, language: document.languageId, text: document.getText(range) });
    return [snapshotItem(request, 'selection', { about, text, group: '0' })];
  }

  #terminalItems(request: RequestAt<'file'>): vscode.CompletionItem[] {
    if (!this.#run) return [];
    const { execution, output, exitCode } = this.#run;
    const command = execution.commandLine.value;
    const text = quoteTerminal({ command, output, exitCode });
    return [snapshotItem(request, 'terminal:last', { about: command, text, group: '0' })];
  }

  /** The output can be read only while it arrives. */
  async #record(execution: vscode.TerminalShellExecution): Promise<void> {
    const run: TerminalRun = { execution, output: '' };
    this.#run = run;
    for await (const data of execution.read()) {
      run.output += data;
      // Seldom, because it copies the whole text.
      if (run.output.length > 2 * MAX_OUTPUT_CHARS) run.output = run.output.slice(-MAX_OUTPUT_CHARS);
    }
  }
}

function isSource({ uri }: vscode.TextDocument): boolean {
  return (uri.scheme === 'file' || uri.scheme === 'untitled') && !isChat(uri);
}

interface Snapshot {
  readonly about: string;
  readonly text: string;
  readonly detail?: string;
  readonly group: string;
}

function snapshotItem(
  { range }: RequestAt<'file'>,
  name: string,
  { about, text, detail = vscode.l10n.t('Copy into the chat'), group }: Snapshot,
): vscode.CompletionItem {
  const isLineStart = range.start.character === 0;
  const label = { label: plainMessage(name), description: plainMessage(about) };
  return createItem(label, vscode.CompletionItemKind.Snippet, {
    insertText: isLineStart ? text : `\n\n${text}`,
    keepWhitespace: true,
    detail,
    documentation: new vscode.MarkdownString().appendCodeblock(text.slice(0, MAX_PREVIEW_CHARS), 'markdown'),
    filterText: `#${name}`,
    sortText: `${group}${name}`,
    range,
  });
}

const MAX_PREVIEW_CHARS = 1000;

/** The file that the user was in comes first. */
function problemItems(request: RequestAt<'file'>, last: vscode.Uri | undefined): vscode.CompletionItem[] {
  const isLast = (uri: vscode.Uri) => uri.toString() === last?.toString();
  return vscode.languages
    .getDiagnostics()
    .filter(([uri, problems]) => uri.scheme === 'file' && !isChat(uri) && problems.length > 0)
    .toSorted(([a], [b]) => Number(isLast(b)) - Number(isLast(a)))
    .slice(0, MAX_FILES_WITH_PROBLEMS)
    .map(([uri, problems], at) => {
      const file = vscode.workspace.asRelativePath(uri);
      const about = vscode.l10n.t('Problems: {0}', problems.length);
      const text = quoteProblems(file, problems.map(describeProblem));
      const group = isLast(uri) ? '0' : `3${sortKey(at)}`;
      return snapshotItem(request, `problems:${file}`, { about, text, group });
    });
}

function describeProblem({ range, severity, message, source = '', code }: vscode.Diagnostic) {
  const number = typeof code === 'object' ? code.value : code;
  return {
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: vscode.DiagnosticSeverity[severity].toLowerCase(),
    message,
    source: `${source} ${number ?? ''}`.trim(),
  };
}

/** The part of the API of VS Code's Git extension that is used here. */
interface GitApi {
  getRepository(uri: vscode.Uri): GitRepository | null;
  readonly repositories: readonly GitRepository[];
}

interface GitRepository {
  /** The changes that are staged, or those that are not. Reads the whole output of Git. */
  diff(cached: boolean): Promise<string>;
}

/** Undefined if Git is switched off, or has not been started: a completion must not start it. */
function repositoryOf(chat: vscode.Uri): GitRepository | undefined {
  const git = vscode.extensions.getExtension<{ readonly enabled: boolean; getAPI(version: 1): GitApi }>(
    'vscode.git',
  );
  if (!git?.isActive || !git.exports.enabled) return undefined;
  const api = git.exports.getAPI(1);
  const [only, ...others] = api.repositories;
  return api.getRepository(chat) ?? (others.length === 0 ? only : undefined);
}

/** The changes are read when the item is accepted, because that takes a process. */
function diffItems({ document, range }: RequestAt<'file'>): vscode.CompletionItem[] {
  if (!repositoryOf(document.uri)) return [];
  const about = vscode.l10n.t('Uncommitted changes');
  const item = createItem({ label: 'git:diff', description: about }, vscode.CompletionItemKind.Snippet, {
    insertText: '',
    detail: vscode.l10n.t('Copy into the chat'),
    filterText: '#git:diff',
    sortText: '0git:diff',
    range,
    command: { command: INSERT_DIFF, title: about, arguments: [{ uri: document.uri }] },
  });
  return [item];
}

async function insertDiff(document: vscode.TextDocument): Promise<void> {
  const repository = repositoryOf(document.uri);
  try {
    const reading = Promise.all([repository?.diff(true), repository?.diff(false)]);
    const diffs = await unlessAborted(reading, AbortSignal.timeout(MAX_DIFF_MS));
    const diff = diffs.filter((each) => each?.trim()).join('\n');
    if (diff === '') return void tell(failed(vscode.l10n.t('There are no uncommitted changes.')));
    const editor = await showInUserTurn(document);
    await insertAtCaret(editor, (before) => (before === '' ? quoteDiff(diff) : `\n\n${quoteDiff(diff)}`));
  } catch (error) {
    tell(failed(vscode.l10n.t('Git could not list the changes. {0}', messageOf(error))));
  }
}
