import * as vscode from 'vscode';
import { argumentsStart } from '../../chat/completion/place.ts';
import type { WrittenCall } from '../../chat/format/calls.ts';
import { pendingCalls } from '../../chat/format/nextAction.ts';
import type { ArgumentHelp, ArgumentProblem } from '../../mcp/callArguments/help.ts';
import type { ToolInfo, ToolName } from '../../ports/tools.ts';

import { chatOf } from '../chat/openChats.ts';
import type { KnownServers } from '../servers/known.ts';

/** Nothing is known of a tool whose server has not run yet, except that it takes an object. */
const UNKNOWN = { type: 'object' };

/** Who helps with the arguments of which tool. What reads JSON is loaded at the first call that is looked at. */
export class ToolHelp {
  readonly #known: KnownServers;
  /** By the schema itself: a server that describes its tool anew gives another one. */
  readonly #help = new WeakMap<object, Promise<ArgumentHelp | undefined>>();

  constructor(known: KnownServers) {
    this.#known = known;
  }

  tool(name: ToolName): Promise<ToolInfo | undefined> {
    return this.#known.tool(name);
  }

  async of(name: ToolName): Promise<ArgumentHelp | undefined> {
    const schema = (await this.#known.tool(name))?.inputSchema;
    return this.#for(typeof schema === 'object' && schema !== null ? schema : UNKNOWN);
  }

  #for(schema: object): Promise<ArgumentHelp | undefined> {
    const help = this.#help.get(schema) ?? load(schema);
    this.#help.set(schema, help);
    return help;
  }
}

async function load(schema: object): Promise<ArgumentHelp | undefined> {
  const { ArgumentHelp } = await import('../../mcp/callArguments/help.ts');
  return ArgumentHelp.create(schema);
}

/** A call that is written to its end and has not run, with the place of its arguments. */
export interface WaitingCall {
  readonly call: WrittenCall;
  readonly start: number;
}

/** More are looked at by nobody at once; the last ones are those that will run. */
const MAX_CALLS = 50;

export function waitingCalls(document: vscode.TextDocument): readonly WaitingCall[] {
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

/** Where a problem shows: what is missing as a whole, at the line that names the tool. */
export function rangeOf(
  document: vscode.TextDocument,
  { call, start }: WaitingCall,
  problem: ArgumentProblem,
): vscode.Range {
  const [from, to] =
    call.argumentsText.slice(0, problem.start).trim() === '' && problem.kind === 'missing'
      ? [call.start, call.infoEnd]
      : [start + problem.start, start + problem.end];
  return new vscode.Range(document.positionAt(from), document.positionAt(to));
}
