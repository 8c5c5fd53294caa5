import * as vscode from 'vscode';
import { checkAnswer, printAnswer } from '../../mcp/schema/answer.ts';
import type { ArgumentQuestion, CheckedAnswer, ChoicesQuestion } from '../../mcp/schema/question.ts';
import { plainMessage } from './plainMessage.ts';

export type Answers = Readonly<Record<string, unknown>>;

export interface AskOptions {
  /** Stands over every input, with the number of the step. */
  readonly title: string;
  /** Closes what is open; then nothing has been answered. */
  readonly signal?: AbortSignal;
  /** Reads an answer where more than the question's own kind may be right. */
  readonly check?: (question: ArgumentQuestion, text: string) => CheckedAnswer;
  /** Another way to an answer, behind a button. Nothing when there is none for this question. */
  readonly chooseFile?: (question: ArgumentQuestion, title: string) => FileChooser | undefined;
  /** Looked at before the answers count. A number is the question to go back to. */
  readonly review?: (answers: Answers) => Promise<'accept' | 'cancel' | number>;
}

export type FileChooser = () => Promise<string | undefined>;

/**
 * Asks one question after the other, with a way back. Resolves to nothing when the user gives up. What was left out
 * is there as undefined.
 */
export async function askQuestions(
  questions: readonly ArgumentQuestion[],
  options: AskOptions,
): Promise<Answers | undefined> {
  const { review = async () => 'accept', signal } = options;
  const texts = new Map<string, string>();
  for (let step = 0; !signal?.aborted; ) {
    const question = questions[step];
    if (!question) {
      const answers = readAnswers(questions, texts, options);
      const next = await review(answers);
      if (next === 'accept') return signal?.aborted ? undefined : answers;
      if (next === 'cancel') return undefined;
      step = next;
      continue;
    }
    const title = `${options.title} (${step + 1}/${questions.length})`;
    const text = texts.get(question.name) ?? presetOf(question);
    const reply = await ask(question, { ...options, title, canGoBack: step > 0, text });
    if (reply.kind === 'cancel') return undefined;
    if (reply.kind === 'answer') texts.set(question.name, reply.text);
    step += reply.kind === 'back' ? -1 : 1;
  }
  return undefined;
}

type Reply = { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'back' | 'cancel' };

/** `Object.fromEntries` keeps even a name like `__proto__` an ordinary one. */
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

interface Asking extends AskOptions {
  readonly canGoBack: boolean;
  /** What stands there at first: the default, or what was answered before the user came back to it. */
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
  // The file dialog of a browser takes the place of this input, which then must not count as given up.
  let choosing = false;
  const choose = async () => {
    choosing = true;
    input.value = (await chooser?.()) ?? input.value;
    choosing = false;
    input.show();
    input.accepted();
  };
  const close = () => input.hide();
  const reply = new Promise<Reply>((resolve, reject) => {
    input.onDidTriggerButton((button) =>
      button === vscode.QuickInputButtons.Back ? resolve({ kind: 'back' }) : choose().catch(reject),
    );
    input.onDidHide(() => choosing || resolve({ kind: 'cancel' }));
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

/** What a list and an input box have in common, and the answer once it is a good one. */
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

const LEFT_OUT = `$(circle-slash) ${vscode.l10n.t('Leave out')}`;

function choiceInput(question: ArgumentQuestion, { text }: Asking): Input {
  const pick = vscode.window.createQuickPick<ChoiceItem>();
  const choices =
    question.kind === 'choice'
      ? question.choices.map((choice) => ({ label: plainMessage(choice.label), text: choice.text }))
      : [
          { label: vscode.l10n.t('Yes'), text: printAnswer(question, true) },
          { label: vscode.l10n.t('No'), text: printAnswer(question, false) },
        ];
  pick.items = question.required ? choices : [...choices, { label: LEFT_OUT, text: '' }];
  const preselected = pick.items.find((item) => item.text === text);
  // An empty list would leave no row to accept with Enter.
  if (preselected) pick.activeItems = [preselected];
  pick.placeholder = describe(question);
  return Object.assign(pick, { accepted: () => pick.activeItems[0]?.text });
}

/** A list in which several rows can be ticked. */
function choicesInput(question: ChoicesQuestion, { text }: Asking): Input {
  const pick = vscode.window.createQuickPick<ChoiceItem>();
  const preset = checkAnswer(question, text);
  const chosen = new Set(preset.ok && Array.isArray(preset.value) ? preset.value : []);
  pick.canSelectMany = true;
  pick.items = question.choices.map(({ label, ...choice }) => ({ label: plainMessage(label), ...choice }));
  pick.selectedItems = pick.items.filter(({ value }) => chosen.has(value));
  pick.placeholder = describe(question);
  const accepted = () => {
    const answered = printChosen(
      question,
      pick.selectedItems.map(({ value }) => value),
    );
    const answer = checkAnswer(question, answered);
    if (answer.ok) return answered;
    // Such a list has no other place for a message, and shows this one only while nothing is typed.
    pick.value = '';
    pick.placeholder = plainMessage(answer.message);
    return undefined;
  };
  return Object.assign(pick, { accepted });
}

/** Nothing ticked leaves an optional list out, unless that would bring back a default which the user took away. */
function printChosen(question: ChoicesQuestion, values: readonly unknown[]): string {
  const list = printAnswer(question, values);
  const isLeftOut = values.length === 0 && !question.required;
  const mayBeEmpty = question.default !== undefined && checkAnswer(question, list).ok;
  return isLeftOut && !mayBeEmpty ? '' : list;
}

function textInput(question: ArgumentQuestion, { text, check = checkAnswer }: Asking): Input {
  const box = vscode.window.createInputBox();
  box.value = text;
  box.prompt = describe(question);
  box.placeholder =
    question.kind === 'json'
      ? question.example
      : question.required
        ? ''
        : vscode.l10n.t('Leave empty to leave it out');
  const isGood = () => {
    const answer = check(question, box.value);
    box.validationMessage = answer.ok ? undefined : plainMessage(answer.message);
    return answer.ok;
  };
  box.onDidChangeValue(isGood);
  return Object.assign(box, { accepted: () => (isGood() ? box.value : undefined) });
}

/** The default if there is one; for required JSON the example, which is easier to change than to invent. */
function presetOf(question: ArgumentQuestion): string {
  if (question.default !== undefined) return printAnswer(question, question.default);
  return question.kind === 'json' && question.required ? question.example : '';
}

function describe(question: ArgumentQuestion): string {
  const name = question.title === question.name ? question.name : `${question.title} (${question.name})`;
  const about = question.description ? `: ${question.description.replaceAll('\n', ' ')}` : '';
  const called = question.required ? name : vscode.l10n.t('{0}, optional', name);
  return plainMessage(`${called}${about}`);
}
