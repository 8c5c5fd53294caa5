import * as vscode from 'vscode';
import {
  type ArgumentQuestion,
  type CheckedAnswer,
  type ChoicesQuestion,
  checkAnswer,
  printAnswer,
} from '../../mcp/schema/answer.ts';
import { plainMessage } from './plainMessage.ts';
import { askInSteps, describeQuestion, type Reply, type Step } from './wizard.ts';

export type Answers = Readonly<Record<string, unknown>>;

export interface AskOptions {
  /** Shown above every input, with the number of the step. */
  readonly title: string;
  /** Closes the input, as if the user had cancelled it. */
  readonly signal?: AbortSignal;
  /** Validates answers; `checkAnswer` by default. */
  readonly check?: (question: ArgumentQuestion, text: string) => CheckedAnswer;
  /** Adds a button that chooses a file. Undefined if the question has none. */
  readonly chooseFile?: (
    question: ArgumentQuestion,
    title: string,
  ) => (() => Promise<string | undefined>) | undefined;
  /** Called with all answers. A number is the question to go back to. */
  readonly review?: (answers: Answers) => Promise<'accept' | 'cancel' | number>;
}

/** Resolves to undefined when the user cancels. Omitted answers are undefined. */
export async function askQuestions(
  questions: readonly ArgumentQuestion[],
  options: AskOptions,
): Promise<Answers | undefined> {
  const { title, review = async () => 'accept', signal } = options;
  const texts = new Map<string, string>();
  const askStep = async (question: ArgumentQuestion, step: Step): Promise<Reply> => {
    if (signal?.aborted) return { kind: 'cancel' };
    return ask(question, { ...options, ...step, text: texts.get(question.name) ?? presetOf(question) });
  };
  for (let first = 0; ; ) {
    const isDone = await askInSteps(questions, { title, answers: texts, ask: askStep }, first);
    if (!isDone || signal?.aborted) return undefined;
    const answers = readAnswers(questions, texts, options);
    const next = await review(answers);
    if (next === 'accept') return signal?.aborted ? undefined : answers;
    if (next === 'cancel') return undefined;
    first = next;
  }
}

/** `Object.fromEntries` is safe for a name such as `__proto__`. */
function readAnswers(
  questions: readonly ArgumentQuestion[],
  texts: ReadonlyMap<string, string>,
  { check = checkAnswer }: AskOptions,
): Answers {
  return Object.fromEntries(
    questions.map((question) => {
      const answer = check(question, texts.get(question.name) ?? '');
      return [question.name, answer.ok ? answer.value : undefined];
    }),
  );
}

interface Asking extends AskOptions, Step {
  /** The initial value: the default, or the answer before the user came back. */
  readonly text: string;
}

async function ask(question: ArgumentQuestion, asking: Asking): Promise<Reply> {
  const input = inputFor(question, asking);
  const chooser = asking.chooseFile?.(question, asking.title);
  input.title = asking.title;
  input.ignoreFocusOut = true;
  input.buttons = [
    ...(asking.canGoBack ? [vscode.QuickInputButtons.Back] : []),
    ...(chooser ? [{ iconPath: new vscode.ThemeIcon('folder-opened'), tooltip: CHOOSE_FILE }] : []),
  ];
  // In a browser, the file dialog hides this input, which must not count as cancelled.
  let isChoosing = false;
  const choose = async () => {
    isChoosing = true;
    input.value = (await chooser?.()) ?? input.value;
    isChoosing = false;
    input.show();
    input.accepted();
  };
  const close = () => input.hide();
  const reply = new Promise<Reply>((resolve, reject) => {
    input.onDidTriggerButton((button) =>
      button === vscode.QuickInputButtons.Back ? resolve({ kind: 'back' }) : choose().catch(reject),
    );
    input.onDidHide(() => isChoosing || resolve({ kind: 'cancel' }));
    input.onDidAccept(() => {
      const text = input.accepted();
      if (text !== undefined) resolve({ kind: 'answer', text });
    });
  });
  input.show();
  asking.signal?.addEventListener('abort', close);
  return reply.finally(() => {
    asking.signal?.removeEventListener('abort', close);
    input.dispose();
  });
}

const CHOOSE_FILE = vscode.l10n.t('Choose a file…');

/** `accepted` returns the answer if it is valid. */
type Input = (vscode.QuickPick<ChoiceItem> | vscode.InputBox) & { accepted(): string | undefined };

interface ChoiceItem extends vscode.QuickPickItem {
  readonly text: string;
  readonly value?: unknown;
}

function inputFor(question: ArgumentQuestion, asking: Asking): Input {
  if (question.kind === 'choices') return choicesInput(question, asking);
  return question.kind === 'choice' || question.kind === 'yesNo'
    ? choiceInput(question, asking)
    : textInput(question, asking);
}

const LEAVE_OUT = `$(circle-slash) ${vscode.l10n.t('Leave out')}`;

function choiceInput(question: ArgumentQuestion, { text }: Asking): Input {
  const pick = vscode.window.createQuickPick<ChoiceItem>();
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

function choicesInput(question: ChoicesQuestion, { text }: Asking): Input {
  const pick = vscode.window.createQuickPick<ChoiceItem>();
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

function textInput(question: ArgumentQuestion, { text, check = checkAnswer }: Asking): Input {
  const box = vscode.window.createInputBox();
  box.value = text;
  box.prompt = describeQuestion(question);
  box.placeholder =
    question.kind === 'json'
      ? question.example
      : question.required
        ? ''
        : vscode.l10n.t('Leave empty to leave it out');
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
