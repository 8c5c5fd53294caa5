import * as vscode from 'vscode';
import { argumentsStart } from '../../chat/completion/place.ts';
import type { WrittenCall } from '../../chat/format/calls.ts';
import { pendingCalls } from '../../chat/format/nextAction.ts';
import type { ArgumentProblem } from '../../mcp/callArguments/help.ts';
import { chatOf } from '../chat/openChats.ts';

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
