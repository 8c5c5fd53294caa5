import * as vscode from 'vscode';
import type { ModelFailure } from '../../ports.ts';

/** Why one of the editor's models did not answer, in plain words. Whether to try again is left to the user: most answers are counted. */
export class EditorModelFailure extends Error implements ModelFailure {
  readonly kind = 'modelFailure';
  readonly retryable = false;
  override readonly name = 'EditorModelFailure';
}

export function editorFailure(error: unknown, model: string): ModelFailure {
  if (error instanceof EditorModelFailure) return error;
  const words = messageOf(error);
  const known = error instanceof vscode.LanguageModelError ? EXPLAINED[error.code] : undefined;
  const message = known?.(model, sentence(words)) ?? `VS Code’s model ${model} failed: ${sentence(words)}`;
  return new EditorModelFailure(message, { cause: error });
}

export function stoppedFailure(model: string): ModelFailure {
  return new EditorModelFailure(`The request to ${model} was stopped.`);
}

/** By the codes that the editor gives to its errors. */
const EXPLAINED: Readonly<Record<string, (model: string, words: string) => string>> = {
  [vscode.LanguageModelError.NoPermissions.name]: (model) =>
    `Filechat may not use VS Code’s model ${model}. Run the chat again and choose Allow, or allow it with “Manage Language Model Access” in the Accounts menu.`,
  [vscode.LanguageModelError.Blocked.name]: (model, words) =>
    `VS Code blocked the request to ${model}: ${words} If a quota is used up, wait, or choose another model with “Filechat: Select Model”.`,
  [vscode.LanguageModelError.NotFound.name]: (model) =>
    `VS Code has no model ${model} any more. Choose another with “Filechat: Select Model”.`,
};

/** An unspecified error of a model has the real one as its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return error.message || cause || 'it gave no reason';
}

function sentence(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
