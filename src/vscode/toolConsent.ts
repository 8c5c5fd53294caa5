import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { showInvisible } from '../chat/escape.ts';
import { renderToolName } from '../chat/toolCall.ts';
import type { Consent, ConsentAnswer, ToolCall, ToolInfo } from '../ports.ts';
import { plainMessage } from './plainMessage.ts';
import { approve } from './settings.ts';

const REMEMBERED = 'consent.tools';
const ALLOW = 'Allow';
const ALWAYS = 'Always Allow This Tool';
const DECLINE = 'Don’t Allow';

/** Asks before a tool runs, with the arguments whole. “Always” holds until the tool's definition changes. */
export class ToolConsent implements Consent {
  readonly #memory: vscode.Memento;
  /** What the server of that name is: its command or address, so that another one gets no old consent. */
  readonly #serverPrint: (server: string) => Promise<string>;

  constructor(memory: vscode.Memento, serverPrint: (server: string) => Promise<string>) {
    this.#memory = memory;
    this.#serverPrint = serverPrint;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, notes: readonly string[] = []): Promise<ConsentAnswer> {
    const mode = approve();
    if (mode === 'auto' || (mode === 'auto-readonly' && tool.readOnly)) return { kind: 'allow' };
    const name = renderToolName(call);
    const print = fingerprint(tool, await this.#serverPrint(call.server));
    // “Always” was said of the tool, not of files that a later call would give to it.
    if (notes.length === 0 && this.#remembered()[name] === print) return { kind: 'allow' };
    const answer = await vscode.window.showInformationMessage(
      `Call the tool ${plainMessage(name)}?`,
      { modal: true, detail: describe(call, tool, notes) },
      ALLOW,
      ALWAYS,
      DECLINE,
    );
    if (answer === DECLINE) return { kind: 'deny' };
    if (answer === ALWAYS) await this.#memory.update(REMEMBERED, { ...this.#remembered(), [name]: print });
    return answer === undefined ? { kind: 'cancel' } : { kind: 'allow' };
  }

  async forget(): Promise<void> {
    await this.#memory.update(REMEMBERED, undefined);
  }

  #remembered(): Readonly<Record<string, string>> {
    return this.#memory.get<Readonly<Record<string, string>>>(REMEMBERED, {});
  }
}

function describe(call: ToolCall, tool: ToolInfo, notes: readonly string[]): string {
  const files = notes.length === 0 ? '' : `\n\nIt gets these files:\n${notes.join('\n')}`;
  const json = showInvisible(JSON.stringify(call.arguments, undefined, 2));
  const about = showInvisible(tool.description ?? tool.title ?? '');
  return `Arguments:\n${json}${files}${about ? `\n\nThe server says of it: ${about}` : ''}`;
}

function fingerprint(tool: ToolInfo, server: string): string {
  return createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex');
}
