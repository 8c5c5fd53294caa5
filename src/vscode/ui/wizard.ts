import * as vscode from 'vscode';
import type { ArgumentQuestion } from '../../mcp/schema/answer.ts';
import { checkAnswer, printAnswer } from '../../mcp/schema/answer.ts';
import { askInput, type Choice, type Input, type InputAction } from './askInput.ts';
import { plainMessage } from './plainMessage.ts';
import {
  type Described,
  describeQuestion,
  LEAVE_OUT,
  presetOf,
  type QuestionChecks,
  questionInput,
} from './questionInputs.ts';

export type Answers = Readonly<Record<string, unknown>>;

interface AskOptions extends Partial<QuestionChecks> {
  /** Shown above every input, with the number of the step. */
  readonly title: string;
  /** Closes the input, as if the user had cancelled it. */
  readonly signal?: AbortSignal;
  /** The answers that are filled in at first. */
  readonly initial?: Answers;
  /** Buttons that fill in an answer. */
  readonly actionsFor?: (question: ArgumentQuestion, title: string) => readonly InputAction[];
  /** Adds a way back before the first question; then the answers are undefined. */
  readonly onBack?: () => void;
  /** Called with all answers. A number is the question to go back to. */
  readonly review?: (answers: Answers) => Promise<'accept' | 'cancel' | number>;
}

/** Resolves to undefined when the user cancels. Omitted answers are undefined. */
export async function askQuestions(
  questions: readonly ArgumentQuestion[],
  options: AskOptions,
): Promise<Answers | undefined> {
  const { check = checkAnswer, checkDeep, review = async () => 'accept', signal, initial = {} } = options;
  const given = questions.filter(({ name }) => Object.hasOwn(initial, name));
  const texts = new Map(given.map((each) => [each.name, printAnswer(each, initial[each.name])]));
  const inputFor = (question: ArgumentQuestion) =>
    questionInput(question, texts.get(question.name) ?? presetOf(question), { check, checkDeep });
  for (let first = 0; ; ) {
    if (!(await askInSteps(questions, { ...options, texts, inputFor }, first))) return undefined;
    // `Object.fromEntries` is safe for a name such as `__proto__`.
    const answers = Object.fromEntries(
      questions.map((question) => {
        const answer = check(question, texts.get(question.name) ?? '');
        return [question.name, answer.ok ? answer.value : undefined];
      }),
    );
    const next = await review(answers);
    if (next === 'accept') return signal?.aborted ? undefined : answers;
    if (next === 'cancel') return undefined;
    first = next;
  }
}

interface CompletableQuestion extends Described {
  /** Suggestions for the typed value, given the earlier answers. */
  readonly complete: (value: string, others: TextAnswers, signal: AbortSignal) => Promise<readonly string[]>;
}

export type TextAnswers = Readonly<Record<string, string>>;

/** Resolves to undefined when the user cancels. Empty answers are omitted. */
export async function askWithCompletion(
  title: string,
  questions: readonly CompletableQuestion[],
): Promise<TextAnswers | undefined> {
  const texts = new Map<string, string>();
  const answersTo = (asked: readonly CompletableQuestion[]): TextAnswers =>
    Object.fromEntries(
      asked.map(({ name }) => [name, texts.get(name) ?? ''] as const).filter(([, text]) => text !== ''),
    );
  const inputFor = (question: CompletableQuestion, index: number) =>
    completionInput(question, texts.get(question.name) ?? '', answersTo(questions.slice(0, index)));
  const isDone = await askInSteps(questions, { title: plainMessage(title), texts, inputFor });
  return isDone ? answersTo(questions) : undefined;
}

interface Steps<Q> {
  readonly title: string;
  /** The answers by name, which `askInSteps` adds to. */
  readonly texts: Map<string, string>;
  readonly inputFor: (question: Q, index: number) => Input;
  readonly signal?: AbortSignal;
  readonly actionsFor?: (question: Q, title: string) => readonly InputAction[];
  readonly onBack?: () => void;
}

/** Asks one question after another, with a way back. Resolves to false when the user cancels or the signal aborts. */
async function askInSteps<Q extends { readonly name: string }>(
  questions: readonly Q[],
  { title, texts, inputFor, signal, actionsFor, onBack }: Steps<Q>,
  first = 0,
): Promise<boolean> {
  for (let index = first; !signal?.aborted; ) {
    const question = questions[index];
    if (!question) {
      if (index >= 0) return true;
      onBack?.();
      return false;
    }
    const input = inputFor(question, index);
    input.title = `${title} (${index + 1}/${questions.length}): ${plainMessage(question.name)}`;
    const actions = actionsFor?.(question, input.title) ?? [];
    const reply = await askInput(input, { canGoBack: index > 0 || onBack !== undefined, actions }, signal);
    if (reply.kind === 'cancel') return false;
    // What was typed is kept on the way back, too; it is checked when the question is asked again.
    const text = reply.kind === 'answer' ? reply.text : reply.draft;
    if (text !== undefined) texts.set(question.name, text);
    index += reply.kind === 'back' ? -1 : 1;
  }
  return false;
}

/** The limit of the protocol. */
const MAX_SUGGESTIONS = 100;

/** A list with the typed value first, then the suggestions for it. */
function completionInput(
  { complete, ...question }: CompletableQuestion,
  value: string,
  others: TextAnswers,
): Input {
  const pick = vscode.window.createQuickPick<Choice>();
  let request = new AbortController();
  let suggestions: readonly string[] = [];
  const show = () => {
    const [active] = pick.activeItems;
    const more = suggestions.filter((text) => text !== pick.value && text !== '');
    // `alwaysShow` keeps the editor from filtering the suggestions.
    const rows = more.map((text) => ({ label: plainMessage(text), text, alwaysShow: true }));
    pick.items = [...typedRow(pick.value, question.required), ...rows];
    const again = active && pick.items.find((item) => item.text === active.text);
    if (again) pick.activeItems = [again];
  };
  /** Each keystroke cancels the previous request. */
  const update = async () => {
    request.abort();
    request = new AbortController();
    const { signal } = request;
    show();
    pick.busy = true;
    const found = await complete(pick.value, others, signal).catch(() => []);
    if (signal.aborted) return;
    suggestions = [...new Set(found)].slice(0, MAX_SUGGESTIONS);
    pick.busy = false;
    show();
  };
  pick.placeholder = describeQuestion(question);
  pick.value = value;
  pick.onDidChangeValue(update);
  pick.onDidHide(() => request.abort());
  void update();
  const accepted = () => {
    const [active] = pick.activeItems;
    // The user does not see an active row that a newer list has replaced.
    const text = active && pick.items.includes(active) ? active.text : pick.value;
    return text === '' && question.required ? undefined : text;
  };
  return Object.assign(pick, { accepted, draft: () => pick.value });
}

function typedRow(value: string, required: boolean): readonly Choice[] {
  if (value === '') return required ? [] : [{ label: LEAVE_OUT, text: '', alwaysShow: true }];
  const description = vscode.l10n.t('as typed');
  return [{ label: plainMessage(value), description, text: value, alwaysShow: true }];
}
