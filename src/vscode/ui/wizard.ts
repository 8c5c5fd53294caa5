import * as vscode from 'vscode';
import { plainMessage } from './plainMessage.ts';

export type Reply = { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'back' | 'cancel' };

export interface Step {
  readonly index: number;
  readonly title: string;
  readonly canGoBack: boolean;
}

interface Wizard<Q> {
  readonly title: string;
  /** The answers by name, which `askInSteps` adds to. */
  readonly answers: Map<string, string>;
  readonly ask: (question: Q, step: Step) => Promise<Reply>;
}

/** Asks one question after another, with a way back. Resolves to false when the user cancels. */
export async function askInSteps<Q extends { readonly name: string }>(
  questions: readonly Q[],
  { title, answers, ask }: Wizard<Q>,
  first = 0,
): Promise<boolean> {
  for (let index = first; ; ) {
    const question = questions[index];
    if (!question) return true;
    const numbered = `${title} (${index + 1}/${questions.length})`;
    const reply = await ask(question, { index, title: numbered, canGoBack: index > 0 });
    if (reply.kind === 'cancel') return false;
    if (reply.kind === 'answer') answers.set(question.name, reply.text);
    index += reply.kind === 'back' ? -1 : 1;
  }
}

interface Described {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly required: boolean;
}

export function describeQuestion({ name, title, description, required }: Described): string {
  const label = title === undefined || title === name ? name : `${title} (${name})`;
  const marked = required ? label : vscode.l10n.t('{0}, optional', label);
  return plainMessage(`${marked}${description ? `: ${description}` : ''}`);
}
