import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/calls.ts';
import { strictest } from '../../chat/format/settings.ts';
import type { AboutCall, Consent, ConsentAnswer, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { approve } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import {
  type AboutQuestion,
  type AllowedTool,
  describeCall,
  fingerprintTool,
  judgeCall,
  summarizeTool,
  toolToRemember,
} from './callQuestion.ts';

const REMEMBERED = 'consent.allowedTools';
/** Limits the stored data, which the editor loads at every start. The oldest entries are dropped. */
const MAX_REMEMBERED = 500;
const ALLOW = vscode.l10n.t('Allow');
const ALWAYS_TOOL = vscode.l10n.t('Always Allow This Tool');
const ALWAYS_SERVER = vscode.l10n.t('Always Allow This Server');
const EDIT = vscode.l10n.t('Edit');
const DECLINE = vscode.l10n.t('Don’t Allow…');

interface ToolConsentDeps {
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
    const { notes = [] } = about;
    const approval = strictest(approve(), about.approve);
    const subject = toolToRemember(call, tool);
    const known = this.#remembered()[renderToolName(subject)];
    const print = await this.#fingerprint(subject);
    const judged = judgeCall({ approval, tool, print, known, givesFiles: notes.length > 0 });
    if (judged.kind === 'ask') return this.#ask(call, tool, { notes, before: judged.before });
    // Remember a tool that ran without a dialog too, so that a later change is noticed.
    if (!known && approval !== 'auto') await this.#remember([subject], false);
    return judged;
  }

  async forget(): Promise<void> {
    await this.#memory.update(REMEMBERED, undefined);
  }

  async #ask(call: ToolCall, tool: ToolInfo, about: AboutQuestion): Promise<ConsentAnswer> {
    const { showInformationMessage, showWarningMessage } = vscode.window;
    const show = about.before ? showWarningMessage : showInformationMessage;
    for (;;) {
      const answer = await show(
        vscode.l10n.t('Call the tool {0}?', plainMessage(renderToolName(call))),
        { modal: true, detail: describeCall(call, tool, about) },
        ALLOW,
        ALWAYS_TOOL,
        ALWAYS_SERVER,
        EDIT,
        DECLINE,
      );
      if (answer === undefined) return { kind: 'cancel' };
      if (answer === EDIT) return { kind: 'edit' };
      if (answer !== DECLINE) {
        await this.#allow(call, tool, answer);
        return { kind: 'allow', by: 'asked' };
      }
      const reason = await askReason(call);
      if (reason !== undefined) return { kind: 'deny', ...(reason === '' ? {} : { reason }) };
    }
  }

  async #allow(call: ToolCall, tool: ToolInfo, answer: string): Promise<void> {
    const subject = toolToRemember(call, tool);
    if (answer === ALLOW) return this.#remember([subject], false);
    // If the list fails, allow at least this tool.
    const others = answer === ALWAYS_SERVER ? await this.#deps.listTools(tool.server).catch(() => []) : [];
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
      remembered[name] = {
        ...summarizeTool(tool),
        print,
        always: always || (was?.print === print && was.always),
        at,
      };
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

/** Resolves to undefined on Escape, which leads back to the dialog. */
async function askReason(call: ToolCall): Promise<string | undefined> {
  const reason = await vscode.window.showInputBox({
    title: vscode.l10n.t('Don’t allow {0}', plainMessage(renderToolName(call))),
    prompt: vscode.l10n.t('Why not? The model will read it. No reason is needed.'),
    placeHolder: vscode.l10n.t('Use the file in data/ instead'),
    ignoreFocusOut: true,
  });
  return reason?.trim();
}
