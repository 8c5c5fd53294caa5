import * as vscode from 'vscode';
import { askInput, type InputAction } from './askInput.ts';
import type { Pages, Step } from './growingPick.ts';

export type ReadText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

interface CheckedQuestion<T> {
  readonly title: string;
  readonly prompt: string;
  readonly placeholder: string;
  readonly value?: string;
  readonly password?: boolean;
  readonly canGoBack?: boolean;
  readonly step?: Step | undefined;
  readonly more?: InputAction | undefined;
  readonly pages?: Pages | undefined;
  readonly checking: string;
  /** What was typed, as it is used, or why it cannot be. */
  readonly read: (typed: string) => ReadText;
  /** Rejects if the text is not accepted. */
  readonly check: (text: string, signal: AbortSignal) => Promise<T>;
  /** Accepting a text again whose failure is not final skips the check. */
  readonly explain: (error: unknown, text: string) => { readonly message: string; readonly isFinal: boolean };
}

export type CheckedAnswer<T> =
  /** Without `result` the text was not checked. */
  | { readonly kind: 'answer'; readonly text: string; readonly result: T | undefined }
  | { readonly kind: 'back' }
  | { readonly kind: 'cancel' };

/** Asks for a text and checks it where it was typed. The text stays in the box until it is accepted. */
export async function askChecked<T>(question: CheckedQuestion<T>): Promise<CheckedAnswer<T>> {
  const {
    title,
    prompt,
    placeholder,
    value = '',
    password = false,
    canGoBack = false,
    more,
    pages,
  } = question;
  const box = vscode.window.createInputBox();
  Object.assign(box, { title, prompt, placeholder, value, password }, question.step);
  const check = new Check(box, question);
  try {
    const input = Object.assign(box, { accepted: () => check.accepted() });
    const reply = await askInput(input, { canGoBack, actions: more ? [more] : [], pages });
    return reply.kind === 'answer' ? { ...reply, result: check.result } : { kind: reply.kind };
  } finally {
    check.dispose();
  }
}

class Check<T> implements vscode.Disposable {
  readonly #box: vscode.InputBox;
  readonly #question: CheckedQuestion<T>;
  #checking: AbortController | undefined;
  #skipped: string | undefined;
  result: T | undefined;

  constructor(box: vscode.InputBox, question: CheckedQuestion<T>) {
    this.#box = box;
    this.#question = question;
    box.onDidChangeValue(() => {
      this.#checking?.abort();
      this.#skipped = undefined;
      box.busy = false;
      box.validationMessage = undefined;
    });
  }

  dispose(): void {
    this.#checking?.abort();
  }

  async accepted(): Promise<string | undefined> {
    const { value } = this.#box;
    const read = this.#question.read(value);
    if (!read.ok) {
      this.#box.validationMessage = read.message;
      return undefined;
    }
    return this.#skipped === value || (await this.#isAccepted(read.text)) ? read.text : undefined;
  }

  async #isAccepted(text: string): Promise<boolean> {
    const { check, explain, checking: message } = this.#question;
    const { Info, Warning } = vscode.InputBoxValidationSeverity;
    const box = this.#box;
    const { value } = box;
    this.#checking?.abort();
    const checking = new AbortController();
    this.#checking = checking;
    box.busy = true;
    box.validationMessage = { message, severity: Info };
    try {
      this.result = await check(text, checking.signal);
      return !checking.signal.aborted;
    } catch (error) {
      if (checking.signal.aborted) return false;
      const failure = explain(error, text);
      if (!failure.isFinal) this.#skipped = value;
      box.validationMessage = failure.isFinal
        ? failure.message
        : { message: failure.message, severity: Warning };
      return false;
    } finally {
      if (this.#checking === checking) box.busy = false;
    }
  }
}
