import * as vscode from 'vscode';
import { deferred } from '../../base/async.ts';
import type { ArgumentQuestion, CheckedAnswer, ChoicesQuestion } from '../../mcp/schema/answer.ts';
import { checkAnswer, printAnswer } from '../../mcp/schema/answer.ts';
import { plainMessage } from './plainMessage.ts';

export type Answers = Readonly<Record<string, unknown>>;
type Check = (question: ArgumentQuestion, text: string) => CheckedAnswer;
type ChooseFile = () => Promise<string | undefined>;

interface AskOptions {
  /** Shown above every input, with the number of the step. */
  readonly title: string;
  /** Closes the input, as if the user had cancelled it. */
  readonly signal?: AbortSignal;
  /** Validates answers; `checkAnswer` by default. */
  readonly check?: Check;
  /** Adds a button that chooses a file. Undefined if the question has none. */
  readonly chooseFile?: (question: ArgumentQuestion, title: string) => ChooseFile | undefined;
  /** Called with all answers. A number is the question to go back to. */
  readonly review?: (answers: Answers) => Promise<'accept' | 'cancel' | number>;
}

/** Resolves to undefined when the user cancels. Omitted answers are undefined. */
export async function askQuestions(
  questions: readonly ArgumentQuestion[],
  options: AskOptions,
): Promise<Answers | undefined> {
  const { check = checkAnswer, review = async () => 'accept', signal } = options;
  const texts = new Map<string, string>();
  const inputFor = (question: ArgumentQuestion) =>
    questionInput(question, texts.get(question.name) ?? presetOf(question), check);
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

interface Described {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
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
  readonly chooseFile?: (question: Q, title: string) => ChooseFile | undefined;
}

/** Asks one question after another, with a way back. Resolves to false when the user cancels or the signal aborts. */
async function askInSteps<Q extends { readonly name: string }>(
  questions: readonly Q[],
  { title, texts, inputFor, signal, chooseFile }: Steps<Q>,
  first = 0,
): Promise<boolean> {
  for (let index = first; !signal?.aborted; ) {
    const question = questions[index];
    if (!question) return true;
    const input = inputFor(question, index);
    input.title = `${title} (${index + 1}/${questions.length})`;
    const buttons = { canGoBack: index > 0, chooseFile: chooseFile?.(question, input.title) };
    const reply = await askInput(input, buttons, signal);
    if (reply.kind === 'cancel') return false;
    if (reply.kind === 'answer') texts.set(question.name, reply.text);
    index += reply.kind === 'back' ? -1 : 1;
  }
  return false;
}

export interface Choice extends vscode.QuickPickItem {
  readonly text: string;
  readonly value?: unknown;
}

/** `accepted` returns the answer if it is valid. */
type Input = (vscode.QuickPick<Choice> | vscode.InputBox) & { accepted(): string | undefined };

type Reply = { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'back' | 'cancel' };

interface Buttons {
  readonly canGoBack: boolean;
  readonly chooseFile?: ChooseFile | undefined;
}

/** Shows the input until it is answered, and disposes of it. */
export async function askInput(
  input: Input,
  { canGoBack, chooseFile }: Buttons,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  const { Back } = vscode.QuickInputButtons;
  input.ignoreFocusOut = true;
  input.buttons = [
    ...(canGoBack ? [Back] : []),
    ...(chooseFile ? [{ iconPath: new vscode.ThemeIcon('folder-opened'), tooltip: CHOOSE_FILE }] : []),
  ];
  // In a browser, the file dialog hides this input, which must not count as cancelled.
  let isChoosing = false;
  const choose = async () => {
    isChoosing = true;
    const chosen = await chooseFile?.();
    isChoosing = false;
    if (signal?.aborted) return;
    input.value = chosen ?? input.value;
    input.show();
    input.accepted();
  };
  const { promise, resolve, reject } = deferred<Reply>();
  const cancel = () => resolve({ kind: 'cancel' });
  input.onDidTriggerButton((button) =>
    button === Back ? resolve({ kind: 'back' }) : choose().catch(reject),
  );
  input.onDidHide(() => isChoosing || cancel());
  input.onDidAccept(() => {
    const text = input.accepted();
    if (text !== undefined) resolve({ kind: 'answer', text });
  });
  input.show();
  signal?.addEventListener('abort', cancel);
  return promise.finally(() => {
    signal?.removeEventListener('abort', cancel);
    input.dispose();
  });
}

const CHOOSE_FILE = vscode.l10n.t('Choose a file…');
const LEAVE_OUT = `$(circle-slash) ${vscode.l10n.t('Leave out')}`;

function questionInput(question: ArgumentQuestion, text: string, check: Check): Input {
  if (question.kind === 'choices') return choicesInput(question, text);
  return question.kind === 'choice' || question.kind === 'yesNo'
    ? choiceInput(question, text)
    : textInput(question, text, check);
}

function choiceInput(question: ArgumentQuestion, text: string): Input {
  const pick = vscode.window.createQuickPick<Choice>();
  const choices =
    question.kind === 'choice'
      ? question.choices.map((choice) => ({ label: plainMessage(choice.label), text: choice.text }))
      : [
          { label: vscode.l10n.t('Yes'), text: printAnswer(question, true) },
          { label: vscode.l10n.t('No'), text: printAnswer(question, false) },
        ];
  pick.items = question.required ? choices : [...choices, { label: LEAVE_OUT, text: '' }];
  const preselected = pick.items.find((item) => item.text === text);
  // With an empty array, Enter would accept no row.
  if (preselected) pick.activeItems = [preselected];
  pick.placeholder = describeQuestion(question);
  return Object.assign(pick, { accepted: () => pick.activeItems[0]?.text });
}

function choicesInput(question: ChoicesQuestion, text: string): Input {
  const pick = vscode.window.createQuickPick<Choice>();
  const preset = checkAnswer(question, text);
  const chosen = new Set(preset.ok && Array.isArray(preset.value) ? preset.value : []);
  pick.canSelectMany = true;
  pick.items = question.choices.map(({ label, ...choice }) => ({ label: plainMessage(label), ...choice }));
  pick.selectedItems = pick.items.filter(({ value }) => chosen.has(value));
  pick.placeholder = describeQuestion(question);
  const accepted = () => {
    const answered = printChosen(
      question,
      pick.selectedItems.map(({ value }) => value),
    );
    const answer = checkAnswer(question, answered);
    if (answer.ok) return answered;
    // A multi-select list can show a message only as its placeholder, while its filter is empty.
    pick.value = '';
    pick.placeholder = plainMessage(answer.message);
    return undefined;
  };
  return Object.assign(pick, { accepted });
}

/** No selection omits an optional list, unless that would restore a default that the user deselected. */
function printChosen(question: ChoicesQuestion, values: readonly unknown[]): string {
  const list = printAnswer(question, values);
  const isLeftOut = values.length === 0 && !question.required;
  const mayBeEmpty = question.default !== undefined && checkAnswer(question, list).ok;
  return isLeftOut && !mayBeEmpty ? '' : list;
}

function textInput(question: ArgumentQuestion, text: string, check: Check): Input {
  const box = vscode.window.createInputBox();
  box.value = text;
  box.prompt = describeQuestion(question);
  if (question.kind === 'json') box.placeholder = question.example;
  else if (!question.required) box.placeholder = vscode.l10n.t('Leave empty to leave it out');
  const isValid = () => {
    const answer = check(question, box.value);
    box.validationMessage = answer.ok ? undefined : plainMessage(answer.message);
    return answer.ok;
  };
  box.onDidChangeValue(isValid);
  return Object.assign(box, { accepted: () => (isValid() ? box.value : undefined) });
}

/** The default; for required JSON the example, which is easier to edit than an empty box. */
function presetOf(question: ArgumentQuestion): string {
  if (question.default !== undefined) return printAnswer(question, question.default);
  return question.kind === 'json' && question.required ? question.example : '';
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
  return Object.assign(pick, { accepted });
}

function typedRow(value: string, required: boolean): readonly Choice[] {
  if (value === '') return required ? [] : [{ label: LEAVE_OUT, text: '', alwaysShow: true }];
  const description = vscode.l10n.t('as typed');
  return [{ label: plainMessage(value), description, text: value, alwaysShow: true }];
}

function describeQuestion({ name, title, description, required }: Described): string {
  const label = title === undefined || title === name ? name : `${title} (${name})`;
  const marked = required ? label : vscode.l10n.t('{0}, optional', label);
  return plainMessage(`${marked}${description ? `: ${description}` : ''}`);
}
