import * as vscode from 'vscode';
import { argumentsStart, completionPlace } from '../../chat/completion.ts';
import type { WrittenCall } from '../../chat/format/callInfo.ts';
import { pendingCalls } from '../../chat/format/nextAction.ts';
import type { ArgumentHelp, ArgumentProblem } from '../../mcp/callArguments/help.ts';
import { type ArgumentFix, fixesFor } from '../../mcp/callArguments/help.ts';
import { printJson } from '../../mcp/schema/walk.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { ToolName } from '../../ports/tools.ts';
import { chatOf, isChat, rangeOf } from '../chat/chatFiles.ts';
import { watchDiagnostics } from '../chat/watch.ts';
import type { KnownServers } from '../servers/known.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/** The schema of tools whose server has not run yet. */
const UNKNOWN = { type: 'object' };

/** The argument help of a tool. The JSON language service is loaded with the first call. */
export type ToolHelp = (name: ToolName) => Promise<ArgumentHelp | undefined>;

export function toolHelp(known: KnownServers): ToolHelp {
  /** By schema object: a server that updates a tool sends a new one. */
  const loaded = new WeakMap<object, Promise<ArgumentHelp | undefined>>();
  return async (name) => {
    const tool = await known.tool(name);
    const schema = typeof tool?.inputSchema === 'object' ? (tool.inputSchema ?? UNKNOWN) : UNKNOWN;
    const help = loaded.get(schema) ?? load(schema);
    loaded.set(schema, help);
    return help;
  };
}

async function load(schema: object): Promise<ArgumentHelp | undefined> {
  const { ArgumentHelp } = await import('../../mcp/callArguments/help.ts');
  return ArgumentHelp.create(schema);
}

/** A complete call that has not run. */
interface PendingCall {
  readonly call: WrittenCall;
  readonly start: number;
}

/** The last ones, because only they can run. */
const MAX_CALLS = 50;

function pendingCallsIn(document: vscode.TextDocument): readonly PendingCall[] {
  const text = document.getText();
  const { turns } = chatOf(document);
  const calls = turns.flatMap((turn, at) => (turn.calls.length > 0 ? pendingCalls(turns, at) : []));
  return calls
    .filter(({ closed }) => closed)
    .slice(-MAX_CALLS)
    .flatMap((call) => {
      const start = argumentsStart(text, call);
      return start === undefined ? [] : [{ call, start }];
    });
}

/** The range of a problem. Missing arguments of an empty call are reported at the line with the tool's name. */
function problemRange(
  document: vscode.TextDocument,
  { call, start }: PendingCall,
  problem: ArgumentProblem,
): vscode.Range {
  const isAllMissing = problem.kind === 'missing' && call.argumentsText.slice(0, problem.start).trim() === '';
  return isAllMissing
    ? rangeOf(document, { start: call.start, end: call.infoEnd })
    : rangeOf(document, { start: start + problem.start, end: start + problem.end });
}

/** Reports arguments of pending calls that do not match the schema. The calls can still run. */
export function watchArguments(help: ToolHelp, servers: Pick<ServerHost, 'onDidChange'>): vscode.Disposable {
  const find = async (document: vscode.TextDocument) => {
    const found = pendingCallsIn(document).map((pending) => check(document, pending, help));
    return (await Promise.all(found)).flat();
  };
  // A server that has started may have sent new schemas.
  return watchDiagnostics('filechat-arguments', find, {
    onDidInvalidate: (listener) => servers.onDidChange(listener),
  });
}

async function check(
  document: vscode.TextDocument,
  pending: PendingCall,
  help: ToolHelp,
): Promise<readonly vscode.Diagnostic[]> {
  const problems = await (await help(pending.call))?.check(pending.call.argumentsText);
  return (problems ?? []).map((problem) => {
    const message = plainMessage(describeProblem(problem));
    const range = problemRange(document, pending, problem);
    const diagnostic = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning);
    diagnostic.source = 'Filechat';
    return diagnostic;
  });
}

const { t } = vscode.l10n;

const DESCRIPTIONS: Readonly<Partial<Record<ArgumentProblem['kind'], (problem: ArgumentProblem) => string>>> =
  {
    missing: ({ subject }) => t('The argument “{0}” is missing.', subject),
    unknown: ({ subject }) => t('The tool has no argument “{0}”.', subject),
    type: ({ subject }) => t('The tool expects another type here: {0}.', subject),
    syntax: ({ message }) => t('The arguments are not valid JSON: {0}', message),
  };

export function describeProblem(problem: ArgumentProblem): string {
  return DESCRIPTIONS[problem.kind]?.(problem) ?? problem.message;
}

export function argumentFixes(tools: ToolHelp): vscode.CodeActionProvider {
  return {
    async provideCodeActions(document, range, { diagnostics }) {
      if (!isChat(document.uri)) return [];
      const { version } = document;
      const offset = document.offsetAt(range.start);
      const pending = pendingCallsIn(document).find(({ call }) => call.start <= offset && offset <= call.end);
      const help = pending && (await tools(pending.call));
      if (!help) return [];
      const text = pending.call.argumentsText;
      const problems = await help.check(text);
      // The offsets are outdated; VS Code asks again for the new text.
      if (document.version !== version) return [];
      const actions = problems.flatMap((problem) => {
        const own = problemRange(document, pending, problem);
        // A missing argument has no range of its own, so it can be added from anywhere in the call.
        if (problem.kind !== 'missing' && !own.intersection(range)) return [];
        const fixed = diagnostics.filter((each) => each.range.isEqual(own));
        return fixesFor(help, text, problem, problems).map((fix) => {
          const action = toAction(document, pending, fix);
          action.diagnostics = fixed;
          return action;
        });
      });
      // One fix adds all arguments that are missing at one place.
      return actions.filter(({ title }, at) => actions.findIndex((each) => each.title === title) === at);
    },
  };
}

function toAction(
  document: vscode.TextDocument,
  { start }: PendingCall,
  { kind, subjects, edit }: ArgumentFix,
): vscode.CodeAction {
  const names = plainMessage(subjects.join(', '));
  const titles: Readonly<Record<ArgumentFix['kind'], string>> = {
    add: t('Add missing arguments: {0}', names),
    remove: t('Remove unknown argument {0}', names),
    replace: t('Replace with {0}', names),
  };
  const action = new vscode.CodeAction(titles[kind], vscode.CodeActionKind.QuickFix);
  const range = rangeOf(document, { start: start + edit.start, end: start + edit.end });
  action.edit = new vscode.WorkspaceEdit();
  action.edit.replace(document.uri, range, edit.text);
  action.isPreferred = kind === 'add';
  return action;
}

const MAX_DESCRIPTION_CHARS = 2000;
const MAX_CHOICES = 20;

export function argumentHover(tools: ToolHelp): vscode.HoverProvider {
  return {
    async provideHover(document, position) {
      if (!isChat(document.uri)) return undefined;
      const place = completionPlace(document.getText(), chatOf(document), document.offsetAt(position));
      if (place?.kind !== 'arguments') return undefined;
      const help = await tools(place.call);
      const found = help?.at(place.call.argumentsText, place.offset);
      const name = found?.steps.at(-1);
      if (!found || typeof name !== 'string' || Object.keys(found.keywords).length === 0) return undefined;
      return new vscode.Hover(describeArgument(name, found.keywords, found.choices));
    },
  };
}

/** All of it is untrusted text of the server, so it is shown as plain text. */
function describeArgument(
  name: string,
  { type, title, description, default: usual }: Readonly<Record<string, unknown>>,
  choices: readonly unknown[],
): vscode.MarkdownString {
  const types = [type].flat().filter((each) => typeof each === 'string');
  const head = types.length > 0 ? `${name}: ${types.join(' | ')}` : name;
  const hover = new vscode.MarkdownString().appendCodeblock(plainMessage(head), 'typescript');
  const said = [title, description].filter((each) => typeof each === 'string' && each !== '');
  for (const each of said) paragraph(hover, String(each).slice(0, MAX_DESCRIPTION_CHARS));
  const shown = choices.slice(0, MAX_CHOICES).flatMap((each) => printJson(each) ?? []);
  if (shown.length > 0) paragraph(hover, t('One of: {0}', plainMessage(shown.join(', '))));
  const json = usual === undefined ? undefined : printJson(usual);
  if (json !== undefined) paragraph(hover, t('Default: {0}', plainMessage(json)));
  return hover;
}

function paragraph(hover: vscode.MarkdownString, text: string): void {
  hover.appendMarkdown('\n\n').appendText(text);
}
