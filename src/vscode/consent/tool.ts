import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/calls.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import { strictest } from '../../chat/format/settings.ts';
import type { AboutCall, Approval, Consent, ConsentAnswer, ToolCall, ToolInfo } from '../../ports/tools.ts';

import { approve } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { figure, t } from '../ui/words.ts';
import { type AllowedTool, describeChange, printTool, sketchTool } from './toolDefinition.ts';

const REMEMBERED = 'consent.allowedTools';
/** More would make every start of the editor slower. The oldest are forgotten, and ask again. */
const MAX_REMEMBERED = 500;
const ALLOW = vscode.l10n.t('Allow');
const ALWAYS_TOOL = vscode.l10n.t('Always Allow This Tool');
const ALWAYS_SERVER = vscode.l10n.t('Always Allow This Server');
const EDIT = vscode.l10n.t('Edit');
const DECLINE = vscode.l10n.t('Don’t Allow…');

export interface ToolConsentParts {
  /** What the server of that name is: its command or address, so that another one gets no old consent. */
  readonly serverPrint: (server: string) => Promise<string>;
  /** Every tool that a server lists now. Without it, a whole server cannot be allowed. */
  readonly listTools?: (server: string) => Promise<readonly ToolInfo[]>;
}

/**
 * Asks before a tool runs, with the arguments whole. “Always” holds until the tool's definition changes; a change
 * asks even about tools that the settings let run because they say that they only read.
 */
export class ToolConsent implements Consent {
  readonly #memory: vscode.Memento;
  readonly #parts: ToolConsentParts;

  constructor(memory: vscode.Memento, parts: ToolConsentParts) {
    this.#memory = memory;
    this.#parts = parts;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, about: AboutCall = {}): Promise<ConsentAnswer> {
    const { notes = [] } = about;
    const approval = strictest(approve(), about.approve);
    const known = this.#remembered()[renderToolName(call)];
    const print = await this.#print(tool);
    const judged = judgeCall({ approval, tool, print, known, givesFiles: notes.length > 0 });
    if (judged.kind === 'ask') return this.#ask(call, tool, { notes, before: judged.before });
    // Kept at the first call that nobody was asked about, so that a later change is seen.
    if (!known && approval !== 'auto') await this.#remember([tool], false);
    return judged;
  }

  async forget(): Promise<void> {
    await this.#memory.update(REMEMBERED, undefined);
  }

  async #ask(call: ToolCall, tool: ToolInfo, about: AboutQuestion): Promise<ConsentAnswer> {
    const { listTools } = this.#parts;
    const { showInformationMessage, showWarningMessage } = vscode.window;
    const show = about.before ? showWarningMessage : showInformationMessage;
    for (;;) {
      const answer = await show(
        vscode.l10n.t('Call the tool {0}?', plainMessage(renderToolName(call))),
        { modal: true, detail: describeCall(call, tool, about) },
        ALLOW,
        ALWAYS_TOOL,
        ...(listTools ? [ALWAYS_SERVER] : []),
        EDIT,
        DECLINE,
      );
      if (answer === undefined) return { kind: 'cancel' };
      if (answer === EDIT) return { kind: 'edit' };
      if (answer !== DECLINE) {
        await this.#allow(tool, answer);
        return { kind: 'allow', by: 'asked' };
      }
      const reason = await askReason(call);
      if (reason !== undefined) return { kind: 'deny', ...(reason === '' ? {} : { reason }) };
    }
  }

  async #allow(tool: ToolInfo, answer: string): Promise<void> {
    if (answer === ALLOW) return this.#remember([tool], false);
    const others = answer === ALWAYS_SERVER ? await this.#listed(tool.server) : [];
    await this.#remember([tool, ...others], true);
  }

  /** A server that cannot be asked again has at least this tool. */
  async #listed(server: string): Promise<readonly ToolInfo[]> {
    return (await this.#parts.listTools?.(server).catch(() => undefined)) ?? [];
  }

  /** By what the tools are now: one that changes asks again. Whoever says yes once takes no “always” back. */
  async #remember(tools: readonly ToolInfo[], always: boolean): Promise<void> {
    const prints = await Promise.all(tools.map((tool) => this.#print(tool)));
    const remembered = { ...this.#remembered() };
    const at = new Date().toISOString();
    for (const [index, tool] of tools.entries()) {
      const name = renderToolName(tool);
      const print = prints[index] ?? '';
      const was = remembered[name];
      delete remembered[name];
      remembered[name] = {
        ...sketchTool(tool),
        print,
        always: always || (was?.print === print && was.always),
        at,
      };
    }
    const kept = Object.entries(remembered).slice(-MAX_REMEMBERED);
    await this.#memory.update(REMEMBERED, Object.fromEntries(kept));
  }

  async #print(tool: ToolInfo): Promise<string> {
    return printTool(tool, await this.#parts.serverPrint(tool.server));
  }

  #remembered(): Readonly<Record<string, AllowedTool>> {
    return this.#memory.get<Readonly<Record<string, AllowedTool>>>(REMEMBERED, {});
  }
}

/** Resolves to nothing on Escape, which leads back to the question. */
async function askReason(call: ToolCall): Promise<string | undefined> {
  const reason = await vscode.window.showInputBox({
    title: vscode.l10n.t('Don’t allow {0}', plainMessage(renderToolName(call))),
    prompt: vscode.l10n.t('Why not? The model will read it. No reason is needed.'),
    placeHolder: vscode.l10n.t('Use the file in data/ instead'),
    ignoreFocusOut: true,
  });
  return reason?.trim();
}

export function needsQuestion(approval: Approval, tool: ToolInfo): boolean {
  return approval === 'ask' || (approval === 'auto-readonly' && tool.readOnly !== true);
}

export interface CallToJudge {
  readonly approval: Approval;
  readonly tool: ToolInfo;
  /** Of the tool as it is now. */
  readonly print: string;
  /** The tool as it was last allowed, if it ever was. */
  readonly known?: AllowedTool | undefined;
  readonly givesFiles: boolean;
}

export type Judgement =
  | { readonly kind: 'allow'; readonly by: 'setting' | 'remembered' }
  /** With what the tool was before, if it has changed since it was allowed. */
  | { readonly kind: 'ask'; readonly before?: AllowedTool };

/** A change asks, whatever the tool says of itself and whatever was promised to what it was. */
export function judgeCall({ approval, tool, print, known, givesFiles }: CallToJudge): Judgement {
  if (approval === 'auto') return { kind: 'allow', by: 'setting' };
  if (known && known.print !== print) return { kind: 'ask', before: known };
  if (!needsQuestion(approval, tool)) return { kind: 'allow', by: 'setting' };
  // “Always” was said of the tool, not of files that a later call would give to it.
  return known?.always && !givesFiles ? { kind: 'allow', by: 'remembered' } : { kind: 'ask' };
}

/** A dialog that is longer than this cannot be read any more on a small screen, and its buttons may be out of sight. */
const MAX_SHOWN_CHARS = 4_000;
const HEAD_CHARS = 2_800;
const TAIL_CHARS = 1_000;
const MAX_ABOUT_CHARS = 600;

interface AboutQuestion {
  /** A line for each file that the call would give away. */
  readonly notes?: readonly string[];
  /** What the user allowed last, if that is not what the tool is now. */
  readonly before?: AllowedTool | undefined;
}

/**
 * What a person decides about: our own short warnings, the arguments, the files, and what the server says last, so
 * that its words can push nothing out of sight.
 */
export function describeCall(call: ToolCall, tool: ToolInfo, about: AboutQuestion = {}): string {
  const { notes = [], before } = about;
  const said = cut(showInvisible(tool.description ?? tool.title ?? '').trim(), MAX_ABOUT_CHARS);
  const sections = [
    before &&
      t('⚠ This tool has changed since it was last allowed, on {0}. See below.', before.at.slice(0, 10)),
    tool.destructive && t('⚠ The server says that this tool may delete or overwrite.'),
    `${t('Arguments:')}\n${describeArguments(call)}`,
    notes.length > 0 && `${t('It gets these files:')}\n${notes.join('\n')}`,
    before && `${t('What has changed:')}\n${describeChange(before, sketchTool(tool)).join('\n')}`,
    said && (tool.readsReferences ? t('What it does: {0}', said) : t('The server says of it: {0}', said)),
  ];
  return sections.filter((section) => section).join('\n\n');
}

/**
 * Whole where that can be read. Of longer ones that are in the chat the middle is left out, and the dialog says so.
 * A call that is not in the chat yet has no other place to be read, so it is shown whole at any length.
 */
function describeArguments({ arguments: args, id }: ToolCall): string {
  const json = showInvisible(layOut(args));
  if (json.length <= MAX_SHOWN_CHARS || id === '') return json;
  const left = json.length - HEAD_CHARS - TAIL_CHARS;
  const gap = t(
    '⚠ {0} characters are not shown here. All of them are in the chat, in the call {1}: choose Edit to read them there.',
    figure(left),
    id,
  );
  return `${json.slice(0, HEAD_CHARS).toWellFormed()}\n\n${gap}\n\n${json.slice(-TAIL_CHARS).toWellFormed()}\n\n${gap}`;
}

const MAX_LINE_CHARS = 60;

/** JSON with a line for each argument; what is short inside of one stays on its line. */
function layOut(value: unknown, indent = ''): string {
  const whole = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return whole;
  if (indent !== '' && whole.length <= MAX_LINE_CHARS) return joinLines(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([key, each]) => `${inner}${isList ? '' : `${JSON.stringify(key)}: `}${layOut(each, inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** Within JSON strings there are no line breaks, so joining lines is safe. */
function joinLines(value: object): string {
  return JSON.stringify(value, undefined, 1)
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ');
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}
