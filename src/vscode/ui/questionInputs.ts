import * as vscode from 'vscode';
import type { ArgumentQuestion, CheckedAnswer, ChoicesQuestion } from '../../mcp/schema/answer.ts';
import { checkAnswer, printAnswer } from '../../mcp/schema/answer.ts';
import { type Choice, type Input, wholeText } from './askInput.ts';
import { localSentence } from './coreSentences.ts';
import { plainMessage } from './plainMessage.ts';

export interface QuestionChecks {
  readonly check: (question: ArgumentQuestion, text: string) => CheckedAnswer;
  /** Why a JSON answer does not match the schema in its depth: the path of the value, and what is wrong with it. */
  readonly checkDeep?:
    | ((question: ArgumentQuestion, text: string) => Promise<string | undefined>)
    | undefined;
}

export function questionInput(question: ArgumentQuestion, text: string, checks: QuestionChecks): Input {
  if (question.kind === 'choices') return choicesInput(question, text);
  return question.kind === 'choice' || question.kind === 'yesNo'
    ? choiceInput(question, text)
    : textInput(question, text, checks);
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
  const accepted = () => pick.activeItems[0]?.text;
  return Object.assign(pick, { accepted, draft: () => accepted() ?? text });
}

export const LEAVE_OUT = `$(circle-slash) ${vscode.l10n.t('Omit')}`;

function choicesInput(question: ChoicesQuestion, text: string): Input {
  const pick = vscode.window.createQuickPick<Choice>();
  const preset = checkAnswer(question, text);
  const chosen = new Set(preset.ok && Array.isArray(preset.value) ? preset.value : []);
  pick.canSelectMany = true;
  pick.items = question.choices.map(({ label, ...choice }) => ({ label: plainMessage(label), ...choice }));
  pick.selectedItems = pick.items.filter(({ value }) => chosen.has(value));
  pick.placeholder = describeQuestion(question);
  const draft = () => {
    const values = pick.selectedItems.map(({ value }) => value);
    return printChosen(question, values);
  };
  const accepted = () => {
    const answer = checkAnswer(question, draft());
    if (answer.ok) return draft();
    // A multi-select list can show a message only as its placeholder, while its filter is empty.
    pick.value = '';
    pick.placeholder = problemOf(question, answer.message);
    return undefined;
  };
  return Object.assign(pick, { accepted, draft });
}

/** No selection omits an optional list, unless that would restore a default that the user deselected. */
function printChosen(question: ChoicesQuestion, values: readonly unknown[]): string {
  const list = printAnswer(question, values);
  const isLeftOut = values.length === 0 && !question.required;
  const mayBeEmpty = question.default !== undefined && checkAnswer(question, list).ok;
  return isLeftOut && !mayBeEmpty ? '' : list;
}

function textInput(question: ArgumentQuestion, text: string, { check, checkDeep }: QuestionChecks): Input {
  const box = vscode.window.createInputBox();
  const { fill, draft } = wholeText(box, text);
  box.prompt = describeQuestion(question);
  if (question.kind === 'json') box.placeholder = question.example;
  else if (!question.required) box.placeholder = vscode.l10n.t('Leave empty to omit');
  let isExample = isTemplate(question, text);
  if (isExample) box.valueSelection = firstWord(text);
  const report = (message: string | undefined) => {
    box.validationMessage = message;
    return message === undefined;
  };
  const isValid = () => {
    const answer = check(question, draft());
    return report(answer.ok ? undefined : problemOf(question, answer.message));
  };
  box.onDidChangeValue(() => {
    isExample = false;
    isValid();
  });
  const accepted = async () => {
    const answer = draft();
    if (!isValid()) return undefined;
    const isUntouched = isExample && answer === text;
    const isDeep = question.kind === 'json' && answer.trim() !== '';
    const problem = isUntouched
      ? problemOf(question, IS_EXAMPLE)
      : isDeep && (await checkDeep?.(question, answer));
    if (answer !== draft()) return undefined;
    return report(problem ? plainMessage(problem) : undefined) ? answer : undefined;
  };
  return Object.assign(box, { accepted, draft, fill });
}

const IS_EXAMPLE = vscode.l10n.t('This is only an example. Replace its values.');

/** Whether the text is the example that `presetOf` filled in. An empty value may be meant. */
function isTemplate(question: ArgumentQuestion, text: string): boolean {
  const isPreset = question.kind === 'json' && question.default === undefined && text === question.example;
  return isPreset && !['{}', '[]', 'null', '""'].includes(text);
}

/** The first value of an example, so that typing replaces it. */
function firstWord(json: string): [number, number] {
  const found = /([:[]\s*"?)([^"\s,:{}[\]]+)/.exec(json);
  const start = found ? found.index + (found[1] ?? '').length : 0;
  return [start, found ? start + (found[2] ?? '').length : json.length];
}

/** The default; for required JSON the example, which is easier to edit than an empty box. */
export function presetOf(question: ArgumentQuestion): string {
  if (question.default !== undefined) return printAnswer(question, question.default);
  return question.kind === 'json' && question.required ? question.example : '';
}

export interface Described {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
}

export function describeQuestion({ description, required, ...question }: Described): string {
  const label = labelOf(question);
  const marked = required ? label : vscode.l10n.t('{0}, optional', label);
  return plainMessage(`${marked}${description ? `: ${description}` : ''}`);
}

/** A message in a box replaces its prompt, so it names the question. */
function problemOf(question: Described, message: string): string {
  return plainMessage(`${labelOf(question)}: ${localSentence(message)}`);
}

function labelOf({ name, title }: Pick<Described, 'name' | 'title'>): string {
  return title === undefined || title === name ? name : `${title} (${name})`;
}
