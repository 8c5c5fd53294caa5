import * as vscode from 'vscode';
import { plainMessage } from './plainMessage.ts';
import { askInSteps, describeQuestion, type Reply, type Step } from './wizard.ts';

export interface CompletableQuestion {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
  /** Suggestions for the typed value, given the earlier answers. */
  readonly complete?:
    | ((value: string, others: Answers, signal: AbortSignal) => Promise<readonly string[]>)
    | undefined;
}

export type Answers = Readonly<Record<string, string>>;

/** Resolves to undefined when the user cancels. Empty answers are omitted. */
export async function askWithCompletion(
  title: string,
  questions: readonly CompletableQuestion[],
): Promise<Answers | undefined> {
  const answers = new Map<string, string>();
  const askStep = (question: CompletableQuestion, step: Step) => {
    const others = answersTo(questions.slice(0, step.index), answers);
    return ask(question, { ...step, value: answers.get(question.name) ?? '', others });
  };
  const isDone = await askInSteps(questions, { title: plainMessage(title), answers, ask: askStep });
  return isDone ? answersTo(questions, answers) : undefined;
}

/** `Object.fromEntries` is safe for a name such as `__proto__`. */
function answersTo(questions: readonly CompletableQuestion[], answers: ReadonlyMap<string, string>): Answers {
  return Object.fromEntries(
    questions.flatMap(({ name }) => {
      const answer = answers.get(name) ?? '';
      return answer === '' ? [] : [[name, answer]];
    }),
  );
}

interface Asking extends Step {
  readonly value: string;
  readonly others: Answers;
}

interface Choice extends vscode.QuickPickItem {
  readonly text: string;
}

function ask(question: CompletableQuestion, asking: Asking): Promise<Reply> {
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = asking.title;
  pick.placeholder = describeQuestion(question);
  pick.ignoreFocusOut = true;
  pick.value = asking.value;
  pick.buttons = asking.canGoBack ? [vscode.QuickInputButtons.Back] : [];
  const suggestions = new Suggestions(pick, question, asking.others);
  const reply = new Promise<Reply>((resolve) => {
    pick.onDidChangeValue(() => suggestions.update());
    pick.onDidTriggerButton(() => resolve({ kind: 'back' }));
    pick.onDidHide(() => resolve({ kind: 'cancel' }));
    pick.onDidAccept(() => {
      const text = suggestions.chosen();
      if (text !== '' || !question.required) resolve({ kind: 'answer', text });
    });
  });
  suggestions.update();
  pick.show();
  return reply.finally(() => {
    suggestions.dispose();
    pick.dispose();
  });
}

/** The limit of the protocol. */
const MAX_SUGGESTIONS = 100;

/** The rows below the input: the typed value, then the server's suggestions. */
class Suggestions implements vscode.Disposable {
  readonly #pick: vscode.QuickPick<Choice>;
  readonly #question: CompletableQuestion;
  readonly #others: Answers;
  #request = new AbortController();
  #known: readonly string[] = [];

  constructor(pick: vscode.QuickPick<Choice>, question: CompletableQuestion, others: Answers) {
    this.#pick = pick;
    this.#question = question;
    this.#others = others;
  }

  /** Each keystroke cancels the previous request. */
  update(): void {
    this.#request.abort();
    this.#request = new AbortController();
    this.#show();
    void this.#fetch(this.#request.signal);
  }

  /** The active row, unless a newer list has replaced it: then the user does not see it. */
  chosen(): string {
    const [active] = this.#pick.activeItems;
    return active && this.#pick.items.includes(active) ? active.text : this.#pick.value;
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const { complete } = this.#question;
    if (!complete) return;
    this.#pick.busy = true;
    const known = await complete(this.#pick.value, this.#others, signal).catch((): readonly string[] => []);
    if (signal.aborted) return;
    this.#known = [...new Set(known)].slice(0, MAX_SUGGESTIONS);
    this.#pick.busy = false;
    this.#show();
  }

  dispose(): void {
    this.#request.abort();
  }

  #show(): void {
    const active = this.#pick.activeItems[0];
    const { value } = this.#pick;
    const known = this.#known.filter((text) => text !== value && text !== '');
    // `alwaysShow` keeps the editor from filtering the server's suggestions.
    const items = known.map((text) => ({ label: plainMessage(text), text, alwaysShow: true }));
    this.#pick.items = [...typedRow(value, this.#question.required), ...items];
    const again = active && this.#pick.items.find((item) => item.text === active.text);
    if (again) this.#pick.activeItems = [again];
  }
}

function typedRow(value: string, required: boolean): readonly Choice[] {
  if (value !== '')
    return [
      { label: plainMessage(value), description: vscode.l10n.t('as typed'), text: value, alwaysShow: true },
    ];
  return required
    ? []
    : [{ label: `$(circle-slash) ${vscode.l10n.t('Leave out')}`, text: '', alwaysShow: true }];
}
