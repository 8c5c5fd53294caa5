import * as vscode from 'vscode';
import { nextAction } from '../../chat/format/nextAction.ts';
import { isEmptyTurn } from '../../chat/format/parse.ts';
import type { RunOutcome } from '../../ports/document.ts';
import type { Failure } from '../../ports/failures.ts';
import { chatOf } from '../chat/chatFiles.ts';
import { explainOutcome, type FailurePlace } from '../ui/failureActions.ts';

/** What went wrong in the last run of a chat. */
export interface FailedRun {
  readonly place: FailurePlace;
  readonly problems: readonly RunProblem[];
}

export interface RunProblem {
  /** The whole sentence. */
  readonly message: string;
  readonly failure?: Failure | undefined;
}

interface Remembered extends FailedRun {
  readonly question: string;
}

/** The failures of the last runs: until the next run, until the question changes, or until the chat is closed. */
export class RunFailures implements vscode.Disposable {
  readonly #failed = new Map<string, Remembered>();
  readonly #subscription = vscode.workspace.onDidCloseTextDocument(({ uri }) => this.forget(uri));

  dispose(): void {
    this.#subscription.dispose();
  }

  forget(uri: vscode.Uri): void {
    this.#failed.delete(uri.toString());
  }

  /** `servers` are those that failed although the run went on. */
  remember(
    document: vscode.TextDocument,
    outcome: RunOutcome,
    { servers, again }: { readonly servers: readonly Failure[]; readonly again?: vscode.Command | undefined },
  ): void {
    const { uri } = document;
    const problems = [
      ...(isProblem(document, outcome)
        ? [{ message: explainOutcome(outcome), failure: outcome.failure }]
        : []),
      ...servers
        .filter(({ server }) => server !== outcome.failure?.server)
        .map((failure) => ({ message: explainOutcome({ failure }), failure })),
    ];
    if (problems.length === 0) return;
    const place = { uri, again, resumable: outcome.resumable };
    this.#failed.set(uri.toString(), { place, problems, question: lastQuestion(document) });
  }

  of(document: vscode.TextDocument): FailedRun | undefined {
    const found = this.#failed.get(document.uri.toString());
    return found?.question === lastQuestion(document) ? found : undefined;
  }
}

/** Not if there was nothing to run. */
function isProblem(document: vscode.TextDocument, { ok, cancelled, lost, failure }: RunOutcome): boolean {
  if (ok || cancelled || lost) return false;
  return failure !== undefined || nextAction(document.getText(), chatOf(document)).kind !== 'wait';
}

function lastQuestion(document: vscode.TextDocument): string {
  const text = document.getText();
  const turn = chatOf(document).turns.findLast((each) => each.role === 'user' && !isEmptyTurn(text, each));
  return turn ? text.slice(turn.start, turn.end).trimEnd() : '';
}
