import { createInterface } from 'node:readline/promises';
import { strictest } from '../chat/format/approval.ts';
import { renderToolName } from '../chat/format/calls.ts';
import { showInvisible } from '../chat/format/escape.ts';
import type { AboutCall, Approval, Consent, ConsentAnswer, ToolCall, ToolInfo } from '../ports.ts';

/** Whoever types the name of a tool on the command line has agreed to it. */
export const CONSENT_GIVEN: Consent = { mayCall: async () => ({ kind: 'allow', by: 'commandLine' }) };

/** Asks on the terminal; where there is none, nothing runs that the command line did not allow. */
export class TerminalConsent implements Consent {
  readonly #approval: Approval;

  constructor(approval: Approval) {
    this.#approval = approval;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, about: AboutCall = {}): Promise<ConsentAnswer> {
    const approval = strictest(this.#approval, about.approve);
    if (approval === 'auto') return { kind: 'allow', by: 'commandLine' };
    if (approval === 'auto-readonly' && tool.readOnly) return { kind: 'allow', by: 'commandLine' };
    if (!process.stdin.isTTY) throw new Error(approval === this.#approval ? NO_TERMINAL : CHAT_ASKS);
    return ask(call, about.notes ?? []);
  }
}

const NO_TERMINAL =
  'A tool call needs your consent, and there is no terminal to ask on. Pass --approve auto to allow all calls of this chat.';

const CHAT_ASKS =
  'A tool call needs your consent because of “approve” in the chat, and there is no terminal to ask on.';

async function ask(call: ToolCall, notes: readonly string[]): Promise<ConsentAnswer> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const json = showInvisible(JSON.stringify(call.arguments, undefined, 2));
    const files =
      notes.length === 0 ? '' : `and give it these files:\n${notes.map((note) => `  ${note}\n`).join('')}`;
    const answer = await terminal.question(
      `Call ${renderToolName(call)} with\n${json}\n${files}[y]es, [n]o, n and a reason for the model, [s]top? `,
    );
    return readAnswer(answer.trim());
  } finally {
    terminal.close();
  }
}

function readAnswer(answer: string): ConsentAnswer {
  if (/^y(es)?$/i.test(answer)) return { kind: 'allow', by: 'asked' };
  const no = /^(?:no?)(?:[ ,:]+(.*))?$/i.exec(answer);
  if (!no) return { kind: 'cancel' };
  return no[1] ? { kind: 'deny', reason: no[1] } : { kind: 'deny' };
}
