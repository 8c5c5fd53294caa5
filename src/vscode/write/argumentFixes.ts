import * as vscode from 'vscode';
import { completionPlace } from '../../chat/completion.ts';
import { type ArgumentFix, fixesFor } from '../../mcp/callArguments/help.ts';
import { printJson } from '../../mcp/schema/schema.ts';
import { isChat } from '../chat/chatFiles.ts';
import { chatOf, rangeOf } from '../chat/openChats.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type PendingCall, pendingCallsIn, problemRange, type ToolHelp } from './argumentHelp.ts';

export function argumentFixes(tools: ToolHelp): vscode.CodeActionProvider {
  return {
    async provideCodeActions(document, range, { diagnostics }) {
      if (!isChat(document.uri)) return [];
      const { version } = document;
      const offset = document.offsetAt(range.start);
      const pending = pendingCallsIn(document).find(({ call }) => call.start <= offset && offset <= call.end);
      const help = pending && (await tools.of(pending.call));
      if (!help) return [];
      const text = pending.call.argumentsText;
      const problems = await help.check(text);
      // The offsets are outdated; VS Code asks again for the new text.
      if (document.version !== version) return [];
      // A missing argument has no range of its own, so it can be added from anywhere in the call.
      const here = problems.filter(
        (each) => each.kind === 'missing' || problemRange(document, pending, each).intersection(range),
      );
      const actions = here.flatMap((problem) => {
        const own = problemRange(document, pending, problem);
        const fixed = diagnostics.filter((each) => each.range.isEqual(own));
        return fixesFor(help, text, problem, problems).map((fix) => toAction(document, pending, fix, fixed));
      });
      // One fix adds all arguments that are missing at one place.
      return actions.filter(({ title }, at) => actions.findIndex((each) => each.title === title) === at);
    },
  };
}

function toAction(
  document: vscode.TextDocument,
  { start }: PendingCall,
  fix: ArgumentFix,
  diagnostics: vscode.Diagnostic[],
): vscode.CodeAction {
  const action = new vscode.CodeAction(titleOf(fix), vscode.CodeActionKind.QuickFix);
  action.diagnostics = diagnostics;
  const { edit } = fix;
  const range = rangeOf(document, { start: start + edit.start, end: start + edit.end });
  action.edit = new vscode.WorkspaceEdit();
  action.edit.replace(document.uri, range, edit.text);
  action.isPreferred = fix.kind === 'add';
  return action;
}

function titleOf({ kind, subjects }: ArgumentFix): string {
  const names = plainMessage(subjects.join(', '));
  switch (kind) {
    case 'add':
      return vscode.l10n.t('Add missing arguments: {0}', names);
    case 'remove':
      return vscode.l10n.t('Remove unknown argument {0}', names);
    case 'replace':
      return vscode.l10n.t('Replace with {0}', names);
  }
}

const MAX_DESCRIPTION_CHARS = 2000;
const MAX_CHOICES = 20;

export function argumentHover(tools: ToolHelp): vscode.HoverProvider {
  return {
    async provideHover(document, position) {
      if (!isChat(document.uri)) return undefined;
      const place = completionPlace(document.getText(), chatOf(document), document.offsetAt(position));
      if (place?.kind !== 'arguments') return undefined;
      const help = await tools.of(place.call);
      const found = help?.at(place.call.argumentsText, place.offset);
      const name = found?.steps.at(-1);
      if (!found || typeof name !== 'string' || Object.keys(found.keywords).length === 0) return undefined;
      return new vscode.Hover(describe(name, found.keywords, found.choices));
    },
  };
}

/** All of it is untrusted text of the server, so it is shown as plain text. */
function describe(
  name: string,
  { type, title, description, default: usual }: Readonly<Record<string, unknown>>,
  choices: readonly unknown[],
): vscode.MarkdownString {
  const { t } = vscode.l10n;
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
