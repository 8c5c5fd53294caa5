import * as vscode from 'vscode';
import { plainMessage } from './plainMessage.ts';

/** A text to ask for, and who may know how it goes on. */
export interface CompletedQuestion {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
  /** What the value may be, by what is typed so far and what was answered before. */
  readonly complete?:
    | ((value: string, others: Answers, signal: AbortSignal) => Promise<readonly string[]>)
    | undefined;
}

export type Answers = Readonly<Record<string, string>>;

/**
 * Asks one question after the other, with a way back. What is left empty is left out. Resolves to nothing when the
 * user gives up.
 */
export async function askCompleted(
  title: string,
  questions: readonly CompletedQuestion[],
): Promise<Answers | undefined> {
  const answers = new Map<string, string>();
  for (let step = 0; step < questions.length; ) {
    const question = questions[step];
    if (!question) break;
    const others = answersTo(questions.slice(0, step), answers);
    const reply = await ask(question, {
      title: `${plainMessage(title)} (${step + 1}/${questions.length})`,
      canGoBack: step > 0,
      value: answers.get(question.name) ?? '',
      others,
    });
    if (reply.kind === 'cancel') return undefined;
    if (reply.kind === 'answer') answers.set(question.name, reply.text);
    step += reply.kind === 'back' ? -1 : 1;
  }
  return answersTo(questions, answers);
}

/** `Object.fromEntries` keeps even a name like `__proto__` an ordinary one. */
function answersTo(questions: readonly CompletedQuestion[], answers: ReadonlyMap<string, string>): Answers {
  return Object.fromEntries(
    questions.flatMap(({ name }) => {
      const answer = answers.get(name) ?? '';
      return answer === '' ? [] : [[name, answer]];
    }),
  );
}

type Reply = { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'back' | 'cancel' };

interface Asking {
  readonly title: string;
  readonly canGoBack: boolean;
  /** What was answered before the user came back to it. */
  readonly value: string;
  readonly others: Answers;
}

interface Choice extends vscode.QuickPickItem {
  readonly text: string;
}

function ask(question: CompletedQuestion, asking: Asking): Promise<Reply> {
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = asking.title;
  pick.placeholder = describe(question);
  pick.ignoreFocusOut = true;
  pick.value = asking.value;
  pick.buttons = asking.canGoBack ? [vscode.QuickInputButtons.Back] : [];
  const offers = new Offers(pick, question, asking.others);
  const reply = new Promise<Reply>((resolve) => {
    pick.onDidChangeValue(() => offers.renew());
    pick.onDidTriggerButton(() => resolve({ kind: 'back' }));
    pick.onDidHide(() => resolve({ kind: 'cancel' }));
    pick.onDidAccept(() => {
      const text = offers.chosen();
      if (text !== '' || !question.required) resolve({ kind: 'answer', text });
    });
  });
  offers.renew();
  pick.show();
  return reply.finally(() => {
    offers.dispose();
    pick.dispose();
  });
}

/** More than anybody reads; the protocol allows no more either. */
const MAX_OFFERS = 100;

/** The rows below the input: first what is typed, as it is, then what the server knows. */
class Offers implements vscode.Disposable {
  readonly #pick: vscode.QuickPick<Choice>;
  readonly #question: CompletedQuestion;
  readonly #others: Answers;
  #asking = new AbortController();
  #known: readonly string[] = [];

  constructor(pick: vscode.QuickPick<Choice>, question: CompletedQuestion, others: Answers) {
    this.#pick = pick;
    this.#question = question;
    this.#others = others;
  }

  /** Each keystroke takes the question back that the one before it has asked. */
  renew(): void {
    this.#asking.abort();
    this.#asking = new AbortController();
    this.#show();
    void this.#askServer(this.#asking.signal);
  }

  /** The row that is chosen; one that a newer list has replaced is not what the user sees. */
  chosen(): string {
    const [active] = this.#pick.activeItems;
    return active && this.#pick.items.includes(active) ? active.text : this.#pick.value;
  }

  async #askServer(signal: AbortSignal): Promise<void> {
    const { complete } = this.#question;
    if (!complete) return;
    this.#pick.busy = true;
    const known = await complete(this.#pick.value, this.#others, signal).catch((): readonly string[] => []);
    if (signal.aborted) return;
    this.#known = [...new Set(known)].slice(0, MAX_OFFERS);
    this.#pick.busy = false;
    this.#show();
  }

  dispose(): void {
    this.#asking.abort();
  }

  #show(): void {
    const active = this.#pick.activeItems[0];
    const { value } = this.#pick;
    const known = this.#known.filter((text) => text !== value && text !== '');
    // The editor must not filter what the server has chosen.
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

function describe({ name, title, description, required }: CompletedQuestion): string {
  const called = title === undefined || title === name ? name : `${title} (${name})`;
  const asked = required ? called : vscode.l10n.t('{0}, optional', called);
  return plainMessage(`${asked}${description ? `: ${description}` : ''}`);
}
