import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { strictest } from '../chat/approval.ts';
import { renderToolName } from '../chat/toolCall.ts';
import type { AboutCall, Consent, ConsentAnswer, ToolCall, ToolInfo } from '../ports.ts';
import { describeCall, needsQuestion } from './consentText.ts';
import { plainMessage } from './plainMessage.ts';
import { approve } from './settings.ts';

const REMEMBERED = 'consent.tools';
const ALLOW = 'Allow';
const ALWAYS_TOOL = 'Always Allow This Tool';
const ALWAYS_SERVER = 'Always Allow This Server';
const EDIT = 'Edit';
const DECLINE = 'Don’t Allow…';

export interface ToolConsentParts {
  /** What the server of that name is: its command or address, so that another one gets no old consent. */
  readonly serverPrint: (server: string) => Promise<string>;
  /** Every tool that a server lists now. Without it, a whole server cannot be allowed. */
  readonly listTools?: (server: string) => Promise<readonly ToolInfo[]>;
}

/** Asks before a tool runs, with the arguments whole. “Always” holds until the tool's definition changes. */
export class ToolConsent implements Consent {
  readonly #memory: vscode.Memento;
  readonly #parts: ToolConsentParts;

  constructor(memory: vscode.Memento, parts: ToolConsentParts) {
    this.#memory = memory;
    this.#parts = parts;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, about: AboutCall = {}): Promise<ConsentAnswer> {
    const { notes = [] } = about;
    if (!needsQuestion(strictest(approve(), about.approve), tool)) return { kind: 'allow' };
    const print = await this.#print(tool);
    // “Always” was said of the tool, not of files that a later call would give to it.
    const always = notes.length === 0 && this.#remembered()[renderToolName(call)] === print;
    return always ? { kind: 'allow' } : this.#ask(call, tool, notes);
  }

  async forget(): Promise<void> {
    await this.#memory.update(REMEMBERED, undefined);
  }

  async #ask(call: ToolCall, tool: ToolInfo, notes: readonly string[]): Promise<ConsentAnswer> {
    const { listTools } = this.#parts;
    for (;;) {
      const answer = await vscode.window.showInformationMessage(
        `Call the tool ${plainMessage(renderToolName(call))}?`,
        { modal: true, detail: describeCall(call, tool, notes) },
        ALLOW,
        ALWAYS_TOOL,
        ...(listTools ? [ALWAYS_SERVER] : []),
        EDIT,
        DECLINE,
      );
      if (answer === undefined) return { kind: 'cancel' };
      if (answer === EDIT) return { kind: 'edit' };
      if (answer === ALWAYS_TOOL) await this.#remember([tool]);
      if (answer === ALWAYS_SERVER) await this.#remember([tool, ...(await this.#listed(tool.server))]);
      if (answer !== DECLINE) return { kind: 'allow' };
      const reason = await askReason(call);
      if (reason !== undefined) return { kind: 'deny', ...(reason === '' ? {} : { reason }) };
    }
  }

  /** A server that cannot be asked again has at least this tool. */
  async #listed(server: string): Promise<readonly ToolInfo[]> {
    return (await this.#parts.listTools?.(server).catch(() => undefined)) ?? [];
  }

  /** By what the tools are now: one that changes, or that comes later, asks again. */
  async #remember(tools: readonly ToolInfo[]): Promise<void> {
    const prints = await Promise.all(
      tools.map(async (tool) => [renderToolName(tool), await this.#print(tool)] as const),
    );
    await this.#memory.update(REMEMBERED, { ...this.#remembered(), ...Object.fromEntries(prints) });
  }

  async #print(tool: ToolInfo): Promise<string> {
    const server = await this.#parts.serverPrint(tool.server);
    return createHash('sha256')
      .update(JSON.stringify([server, tool]))
      .digest('hex');
  }

  #remembered(): Readonly<Record<string, string>> {
    return this.#memory.get<Readonly<Record<string, string>>>(REMEMBERED, {});
  }
}

/** Resolves to nothing on Escape, which leads back to the question. */
async function askReason(call: ToolCall): Promise<string | undefined> {
  const reason = await vscode.window.showInputBox({
    title: `Don’t allow ${plainMessage(renderToolName(call))}`,
    prompt: 'Why not? The model will read it. No reason is needed.',
    placeHolder: 'Use the file in data/ instead',
    ignoreFocusOut: true,
  });
  return reason?.trim();
}
