import * as vscode from 'vscode';
import { checkAnswer, printAnswer } from '../mcp/answer.ts';
import { askableArguments, fillDefaults } from '../mcp/arguments.ts';
import type { ArgumentQuestion } from '../mcp/question.ts';
import type { ToolInfo } from '../ports.ts';
import { plainMessage } from './plainMessage.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Reply = { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'back' | 'cancel' };

/** Asks for each argument by its schema, with a way back. Resolves to nothing when the user gives up. */
export async function askArguments(tool: ToolInfo, given: Arguments = {}): Promise<Arguments | undefined> {
  const questions = askableArguments(tool.inputSchema).filter(({ name }) => !Object.hasOwn(given, name));
  const answers = new Map<string, string>();
  for (let step = 0; step < questions.length; ) {
    const question = questions[step];
    if (!question) break;
    const title = `${plainMessage(tool.tool)} (${step + 1}/${questions.length})`;
    const reply = await ask(question, { title, canGoBack: step > 0, text: answers.get(question.name) });
    if (reply.kind === 'cancel') return undefined;
    if (reply.kind === 'answer') answers.set(question.name, reply.text);
    step += reply.kind === 'back' ? -1 : 1;
  }
  return fillDefaults(tool.inputSchema, { ...given, ...readAnswers(questions, answers) });
}

/** `Object.fromEntries` keeps even a name like `__proto__` an ordinary one. */
function readAnswers(
  questions: readonly ArgumentQuestion[],
  answers: ReadonlyMap<string, string>,
): Arguments {
  return Object.fromEntries(
    questions.flatMap((question) => {
      const answer = checkAnswer(question, answers.get(question.name) ?? '');
      return answer.ok && answer.value !== undefined ? [[question.name, answer.value]] : [];
    }),
  );
}

interface Asking {
  readonly title: string;
  readonly canGoBack: boolean;
  /** What was answered before the user came back to it. */
  readonly text: string | undefined;
}

function ask(question: ArgumentQuestion, asking: Asking): Promise<Reply> {
  const input =
    question.kind === 'choice' || question.kind === 'yesNo'
      ? choiceInput(question, asking)
      : textInput(question, asking);
  input.title = asking.title;
  input.ignoreFocusOut = true;
  if (asking.canGoBack) input.buttons = [vscode.QuickInputButtons.Back];
  const reply = new Promise<Reply>((resolve) => {
    input.onDidTriggerButton(() => resolve({ kind: 'back' }));
    input.onDidHide(() => resolve({ kind: 'cancel' }));
    input.onDidAccept(() => {
      const text = input.accepted();
      if (text !== undefined) resolve({ kind: 'answer', text });
    });
  });
  input.show();
  return reply.finally(() => input.dispose());
}

/** What a list and an input box have in common, and the answer once it is a good one. */
type Input = (vscode.QuickPick<ChoiceItem> | vscode.InputBox) & { accepted(): string | undefined };

interface ChoiceItem extends vscode.QuickPickItem {
  readonly text: string;
}

const LEFT_OUT = '$(circle-slash) Leave out';

function choiceInput(question: ArgumentQuestion, { text }: Asking): Input {
  const pick = vscode.window.createQuickPick<ChoiceItem>();
  const preset = text ?? presetOf(question);
  const choices =
    question.kind === 'choice'
      ? question.choices.map((choice) => ({ label: plainMessage(choice.label), text: choice.text }))
      : [
          { label: 'Yes', text: printAnswer(question, true) },
          { label: 'No', text: printAnswer(question, false) },
        ];
  pick.items = question.required ? choices : [...choices, { label: LEFT_OUT, text: '' }];
  const preselected = pick.items.find((item) => item.text === preset);
  // An empty list would leave no row to accept with Enter.
  if (preselected) pick.activeItems = [preselected];
  pick.placeholder = describe(question);
  return Object.assign(pick, { accepted: () => pick.activeItems[0]?.text });
}

function textInput(question: ArgumentQuestion, { text }: Asking): Input {
  const box = vscode.window.createInputBox();
  box.value = text ?? presetOf(question);
  box.prompt = describe(question);
  box.placeholder =
    question.kind === 'json' ? question.example : question.required ? '' : 'Leave empty to leave it out';
  const check = () => {
    const answer = checkAnswer(question, box.value);
    box.validationMessage = answer.ok ? undefined : plainMessage(answer.message);
    return answer.ok;
  };
  box.onDidChangeValue(check);
  return Object.assign(box, { accepted: () => (check() ? box.value : undefined) });
}

/** The default if there is one; for required JSON the example, which is easier to change than to invent. */
function presetOf(question: ArgumentQuestion): string {
  if (question.default !== undefined) return printAnswer(question, question.default);
  return question.kind === 'json' && question.required ? question.example : '';
}

function describe(question: ArgumentQuestion): string {
  const name = question.title === question.name ? question.name : `${question.title} (${question.name})`;
  const about = question.description ? `: ${question.description.replaceAll('\n', ' ')}` : '';
  return plainMessage(`${name}${question.required ? '' : ', optional'}${about}`);
}
