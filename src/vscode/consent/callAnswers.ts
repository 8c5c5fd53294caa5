import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/callInfo.ts';
import type { RunOutcome } from '../../ports/document.ts';
import { chatOf, rangeOf, withChat } from '../chat/chatFiles.ts';
import { type Fields, readFields, readString, readUri } from '../ui/commandArguments.ts';
import { CANCELLED, failed, NOTHING_PENDING, tell } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { toolToRemember } from './allowedTool.ts';
import type { CallQuestions, OpenQuestion, QuestionAnswer } from './callQuestions.ts';
import { canAllowTogether, stateOf } from './questionState.ts';
import type { ToolChanges } from './toolChanges.ts';

type Scope = Extract<QuestionAnswer, { readonly kind: 'allow' }>['scope'];

/** The commands that answer calls that wait for permission. */
export class CallAnswers {
  readonly #questions: CallQuestions;
  readonly #changes: ToolChanges;

  constructor(questions: CallQuestions, changes: ToolChanges) {
    this.#questions = questions;
    this.#changes = changes;
  }

  /** With `all`, allows all calls of the chat once. With `always`, stops asking: `tool`, `server`, or true to choose. */
  allow(argument: unknown): Promise<RunOutcome> {
    return withChat(argument, async (document, fields) => {
      const found = this.#find(document, fields);
      const waiting = fields['all'] === true ? canAllowTogether(found) : found.slice(0, 1);
      const [first] = waiting;
      if (!first) return nothingPending();
      const scope = await readScope(fields, first);
      if (!scope) return CANCELLED;
      const covered = scope === 'once' ? [] : alsoCovered(first, scope, this.#questions.of(document.uri));
      const outcomes = [...waiting, ...covered].map((each) => this.#allow(document, each, scope));
      return outcomes.find(({ ok }) => !ok) ?? DONE;
    });
  }

  /** With a `reason`, the model reads it at once. Without one, the run ends and the user can write it in the chat. */
  decline(argument: unknown): Promise<RunOutcome> {
    return withChat(argument, async (document, fields) => {
      const [question] = this.#find(document, fields);
      const reason = readString(fields, 'reason')?.trim();
      const answer: QuestionAnswer = reason ? { kind: 'deny', reason } : { kind: 'deny', endsRun: true };
      return question && this.#questions.answer(question, answer) ? DONE : nothingPending();
    });
  }

  /** Shows a waiting call in its chat; without an argument, the first one of all chats. */
  async show(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const uri = readUri(fields, 'uri');
    const waiting = uri ? this.#questions.of(uri) : this.#questions.all;
    const question = waiting.find(({ call }) => call.id === fields['id']) ?? waiting[0];
    if (!question) return void nothingPending();
    const editor = await vscode.window.showTextDocument(question.chat, { preview: false });
    const state = stateOf(question, chatOf(editor.document));
    if (state.kind === 'withdrawn') return;
    const { InCenterIfOutsideViewport } = vscode.TextEditorRevealType;
    editor.revealRange(rangeOf(editor.document, state.at), InCenterIfOutsideViewport);
  }

  async showChanges(argument: unknown): Promise<void> {
    await withChat(argument, async (document, fields) => {
      const found = this.#find(document, fields);
      const question = found.find(({ before }) => before !== undefined);
      if (question?.before) await this.#changes.show(question.tool, question.before);
      else void nothingPending();
    });
  }

  /** The named call, or all waiting calls of the chat: the one at the cursor first. */
  #find(document: vscode.TextDocument, fields: Fields): readonly OpenQuestion[] {
    const waiting = this.#questions.of(document.uri);
    const id = readString(fields, 'id');
    if (fields['all'] === true) return waiting;
    if (id !== undefined) return waiting.filter(({ call }) => call.id === id);
    const editor = vscode.window.visibleTextEditors.find((each) => each.document === document);
    const chat = chatOf(document);
    const isAtCaret = (question: OpenQuestion) => {
      const state = stateOf(question, chat);
      if (!editor || state.kind === 'withdrawn') return false;
      const { start, end } = rangeOf(document, state.at);
      const { line } = editor.selection.active;
      // The line below the last call is where the cursor waits, not a choice.
      return line >= start.line && (line < end.line || (line === end.line && end.character > 0));
    };
    const atCaret = waiting.filter(isAtCaret);
    return [...atCaret, ...waiting.filter((each) => !atCaret.includes(each))];
  }

  /** The permission is for the arguments that are in the chat now. */
  #allow(document: vscode.TextDocument, question: OpenQuestion, scope: Scope): RunOutcome {
    const state = stateOf(question, chatOf(document));
    if (state.kind === 'withdrawn') return nothingPending();
    if (state.kind === 'edited' && state.problem !== undefined) {
      const name = plainMessage(renderToolName(question.call));
      const message = vscode.l10n.t(
        'Fix the arguments of {0}, then allow the call. {1}',
        name,
        state.problem,
      );
      return tell(failed(message));
    }
    const edited = state.kind === 'edited' ? { edited: state.at.argumentsText } : {};
    const isOpen = this.#questions.answer(question, { kind: 'allow', scope, ...edited });
    return isOpen ? DONE : nothingPending();
  }
}

/** The other waiting calls that need no question any more. Those that send files still do. */
function alsoCovered(
  first: OpenQuestion,
  scope: Scope,
  waiting: readonly OpenQuestion[],
): readonly OpenQuestion[] {
  const nameOf = ({ call, tool }: OpenQuestion) => renderToolName(toolToRemember(call, tool));
  return canAllowTogether(waiting).filter(
    (each) =>
      each.call.id !== first.call.id &&
      each.notes.length === 0 &&
      (scope === 'server' ? each.tool.server === first.tool.server : nameOf(each) === nameOf(first)),
  );
}

const DONE: RunOutcome = { ok: true, assets: [] };

function nothingPending(): RunOutcome {
  void vscode.window.showInformationMessage(NOTHING_PENDING);
  return failed(NOTHING_PENDING);
}

async function readScope(fields: Fields, question: OpenQuestion): Promise<Scope | undefined> {
  const always = fields['always'];
  if (always === 'tool' || always === 'server') return always;
  return always === true ? pickScope(question) : 'once';
}

/** Resolves to undefined if the user cancels; then the call keeps waiting. */
export async function pickScope({
  call,
  tool,
}: Pick<OpenQuestion, 'call' | 'tool'>): Promise<Exclude<Scope, 'once'> | undefined> {
  const name = plainMessage(renderToolName(call));
  const items = [
    {
      scope: 'tool' as const,
      label: vscode.l10n.t('Always Allow {0}', name),
      detail: vscode.l10n.t('Until the tool or its server changes. Calls that send files still ask.'),
    },
    {
      scope: 'server' as const,
      label: vscode.l10n.t('Always Allow All Tools of {0}', plainMessage(tool.server)),
      detail: vscode.l10n.t('All current tools of the server, including those that change or delete data.'),
    },
  ];
  const title = vscode.l10n.t('Always Allow');
  const placeHolder = vscode.l10n.t('To undo this, run “Filechat: Forget Permissions”.');
  return (await vscode.window.showQuickPick(items, { title, placeHolder }))?.scope;
}
