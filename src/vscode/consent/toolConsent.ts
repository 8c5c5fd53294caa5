import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/callInfo.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { strictest } from '../../chat/format/frontMatter.ts';
import type { AboutCall, Consent, ConsentAnswer, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { approve } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import {
  type AllowedTool,
  describeChange,
  fingerprintTool,
  isRedefined,
  judgeCall,
  renderDefinition,
  toolToRemember,
} from './allowedTool.ts';
import { pickScope } from './callAnswers.ts';
import type { CallQuestions, QuestionAnswer } from './callQuestions.ts';
import { askInNotice } from './noticeQuestion.ts';
import type { ToolChanges } from './toolChanges.ts';

const REMEMBERED = 'consent.allowedTools';
/** Limits the stored data, which the editor loads at every start. The oldest entries are dropped. */
const MAX_REMEMBERED = 500;

interface ToolConsentDeps {
  readonly questions: CallQuestions;
  readonly changes: ToolChanges;
  /** Changes with the command or address, so that another server of the same name does not inherit permissions. */
  readonly serverFingerprint: (server: string) => Promise<string>;
  readonly listTools: (server: string) => Promise<readonly ToolInfo[]>;
}

/** Asks before a tool runs. “Always” is valid until the tool's definition changes. */
export class ToolConsent implements Consent {
  readonly #memory: vscode.Memento;
  readonly #deps: ToolConsentDeps;

  constructor(memory: vscode.Memento, deps: ToolConsentDeps) {
    this.#memory = memory;
    this.#deps = deps;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, about: AboutCall = {}): Promise<ConsentAnswer> {
    const approval = strictest(approve(), about.approve);
    const subject = toolToRemember(call, tool);
    const known = this.#remembered()[renderToolName(subject)];
    const print = await this.#fingerprint(subject);
    const givesFiles = (about.notes?.length ?? 0) > 0;
    const judged = judgeCall({ approval, tool, print, known, givesFiles });
    if (judged.kind === 'ask') return this.#ask(call, tool, { ...about, before: judged.before });
    // Remember a tool that ran without a question too, so that a later change is noticed.
    if (!known && approval !== 'auto') await this.#remember([subject], false);
    return judged;
  }

  async forget(): Promise<void> {
    await this.#memory.update(REMEMBERED, undefined);
  }

  async #ask(
    call: ToolCall,
    tool: ToolInfo,
    { before, ...about }: AboutCall & { readonly before: AllowedTool | undefined },
  ): Promise<ConsentAnswer> {
    const { questions, changes } = this.#deps;
    const { chat, written, signal, notes = [], files = [] } = about;
    const answer =
      chat === undefined || written === undefined
        ? await askAboutApp({ chat, call, tool, before }, changes, signal)
        : await questions.ask(
            vscode.Uri.parse(chat, true),
            { call, tool, written, notes, files, before },
            signal,
          );
    if (answer.kind !== 'allow') return answer;
    await this.#allow(call, tool, answer.scope);
    const { edited } = answer;
    return { kind: 'allow', by: 'asked', ...(edited !== undefined && { edited }) };
  }

  async #allow(
    call: ToolCall,
    tool: ToolInfo,
    scope: Extract<QuestionAnswer, { readonly kind: 'allow' }>['scope'],
  ): Promise<void> {
    const subject = toolToRemember(call, tool);
    if (scope === 'once') return this.#remember([subject], false);
    // If the list fails, allow at least this tool.
    const others = scope === 'server' ? await this.#deps.listTools(tool.server).catch(() => []) : [];
    await this.#remember([subject, ...others], true);
  }

  /** Allowing an unchanged tool once does not revoke “always”. */
  async #remember(tools: readonly ToolInfo[], always: boolean): Promise<void> {
    const prints = await Promise.all(tools.map((tool) => this.#fingerprint(tool)));
    const remembered = { ...this.#remembered() };
    const at = new Date().toISOString();
    for (const [index, tool] of tools.entries()) {
      const name = renderToolName(tool);
      const print = prints[index] ?? '';
      const was = remembered[name];
      delete remembered[name];
      const wasAlways = was?.print === print && was.always;
      remembered[name] = { print, always: always || wasAlways, at, definition: renderDefinition(tool) };
    }
    const kept = Object.entries(remembered).slice(-MAX_REMEMBERED);
    await this.#memory.update(REMEMBERED, Object.fromEntries(kept));
  }

  async #fingerprint(tool: ToolInfo): Promise<string> {
    return fingerprintTool(tool, await this.#deps.serverFingerprint(tool.server));
  }

  #remembered(): Readonly<Record<string, AllowedTool>> {
    return this.#memory.get<Readonly<Record<string, AllowedTool>>>(REMEMBERED, {});
  }
}

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
async function askAboutApp(
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
