import type * as vscode from 'vscode';
import { argumentsStart } from '../../chat/completion.ts';
import type { WrittenCall } from '../../chat/format/calls.ts';
import { pendingCalls } from '../../chat/format/nextAction.ts';
import type { ArgumentHelp, ArgumentProblem } from '../../mcp/callArguments/help.ts';
import type { ToolName } from '../../ports/tools.ts';
import { chatOf, rangeOf } from '../chat/openChats.ts';
import type { KnownServers } from '../servers/known.ts';

/** The schema of tools whose server has not run yet. */
const UNKNOWN = { type: 'object' };

/** The argument help of each tool. The JSON language service is loaded with the first call. */
export class ToolHelp {
  readonly #known: KnownServers;
  /** By schema object: a server that updates a tool sends a new one. */
  readonly #help = new WeakMap<object, Promise<ArgumentHelp | undefined>>();

  constructor(known: KnownServers) {
    this.#known = known;
  }

  async of(name: ToolName): Promise<ArgumentHelp | undefined> {
    const tool = await this.#known.tool(name);
    const schema = typeof tool?.inputSchema === 'object' ? (tool.inputSchema ?? UNKNOWN) : UNKNOWN;
    const help = this.#help.get(schema) ?? load(schema);
    this.#help.set(schema, help);
    return help;
  }
}

async function load(schema: object): Promise<ArgumentHelp | undefined> {
  const { ArgumentHelp } = await import('../../mcp/callArguments/help.ts');
  return ArgumentHelp.create(schema);
}

/** A complete call that has not run. */
export interface PendingCall {
  readonly call: WrittenCall;
  /** The start of its arguments. */
  readonly start: number;
}

/** The last ones, because only they can run. */
const MAX_CALLS = 50;

export function pendingCallsIn(document: vscode.TextDocument): readonly PendingCall[] {
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
export function problemRange(
  document: vscode.TextDocument,
  { call, start }: PendingCall,
  problem: ArgumentProblem,
): vscode.Range {
  const isAllMissing = problem.kind === 'missing' && call.argumentsText.slice(0, problem.start).trim() === '';
  return isAllMissing
    ? rangeOf(document, { start: call.start, end: call.infoEnd })
    : rangeOf(document, { start: start + problem.start, end: start + problem.end });
}
