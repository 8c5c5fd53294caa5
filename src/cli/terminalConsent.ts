import { createInterface } from 'node:readline/promises';
import { showInvisible } from '../chat/escape.ts';
import { renderToolName } from '../chat/toolCall.ts';
import type { Consent, ConsentAnswer, ToolCall, ToolInfo } from '../ports.ts';
import type { Approval } from './usage.ts';

/** Whoever types the name of a tool on the command line has agreed to it. */
export const CONSENT_GIVEN: Consent = { mayCall: async () => ({ kind: 'allow' }) };

/** Asks on the terminal; where there is none, nothing runs that the command line did not allow. */
export class TerminalConsent implements Consent {
  readonly #approval: Approval;

  constructor(approval: Approval) {
    this.#approval = approval;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, notes: readonly string[] = []): Promise<ConsentAnswer> {
    if (this.#approval === 'auto') return { kind: 'allow' };
    if (this.#approval === 'auto-readonly' && tool.readOnly) return { kind: 'allow' };
    if (!process.stdin.isTTY) throw new Error(NO_TERMINAL);
    return ask(call, notes);
  }
}

const NO_TERMINAL =
  'A tool call needs your consent, and there is no terminal to ask on. Pass --approve auto to allow all calls of this chat.';

async function ask(call: ToolCall, notes: readonly string[]): Promise<ConsentAnswer> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const json = showInvisible(JSON.stringify(call.arguments, undefined, 2));
    const files =
      notes.length === 0 ? '' : `and give it these files:\n${notes.map((note) => `  ${note}\n`).join('')}`;
    const answer = await terminal.question(
      `Call ${renderToolName(call)} with\n${json}\n${files}[y]es, [n]o, [s]top? `,
    );
    if (/^y(es)?$/i.test(answer.trim())) return { kind: 'allow' };
    return /^n(o)?$/i.test(answer.trim()) ? { kind: 'deny' } : { kind: 'cancel' };
  } finally {
    terminal.close();
  }
}
