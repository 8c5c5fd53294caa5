import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/calls.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import type { ToolCall, ToolInfo } from '../../ports/tools.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { pickScope } from './answers.ts';
import { type AllowedTool, describeChange, isRedefined } from './callQuestion.ts';
import { askInNotice } from './noticeQuestion.ts';
import type { QuestionAnswer } from './questions.ts';
import type { ToolChanges } from './toolChanges.ts';

const ALLOW = vscode.l10n.t('Allow Once');
const ALWAYS = vscode.l10n.t('Always Allow…');
const DECLINE = vscode.l10n.t('Decline');
const SHOW_CHANGES = vscode.l10n.t('Show Changes');

/** Longer arguments are not readable in a notification. */
const MAX_ARGUMENT_CHARS = 150;
const MAX_TEXT_CHARS = 500;

interface AppQuestion {
  readonly chat: string | undefined;
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  readonly before?: AllowedTool | undefined;
}

/** Asks about the call of an app, which is in no chat, until the app is closed. */
export async function askAboutApp(
  question: AppQuestion,
  changes: ToolChanges,
  signal?: AbortSignal,
): Promise<QuestionAnswer> {
  const { chat, call, tool, before } = question;
  const details = showInvisible(JSON.stringify(call.arguments, undefined, 2));
  const isLong = JSON.stringify(call.arguments).length > MAX_ARGUMENT_CHARS;
  const answers = [ALLOW, ALWAYS, DECLINE, ...(before && isRedefined(tool, before) ? [SHOW_CHANGES] : [])];
  for (;;) {
    const message = describe(question);
    const answer = await askInNotice({ chat, message, answers, ...(isLong && { details }) }, signal);
    if (answer === ALLOW) return { kind: 'allow', scope: 'once' };
    if (answer === DECLINE) return { kind: 'deny' };
    if (answer === undefined) return { kind: 'cancel' };
    if (answer === SHOW_CHANGES && before) await changes.show(tool, before);
    const scope = answer === ALWAYS ? await pickScope(question) : undefined;
    if (scope) return { kind: 'allow', scope };
  }
}

function describe({ call, tool, before }: AppQuestion): string {
  const json = JSON.stringify(call.arguments);
  const shown = json.length > MAX_ARGUMENT_CHARS ? `${json.slice(0, MAX_ARGUMENT_CHARS)}…` : json;
  const question = vscode.l10n.t(
    'An app asks for permission to call {0} with {1}',
    renderToolName(call),
    shown.toWellFormed(),
  );
  const warnings = [
    ...(before ? [describeChange(tool, before)] : []),
    ...(tool.destructive ? [vscode.l10n.t('may delete or overwrite data')] : []),
  ];
  return plainMessage([question, ...warnings].join(' · '), MAX_TEXT_CHARS);
}
