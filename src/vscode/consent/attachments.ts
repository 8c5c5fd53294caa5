import { basename } from 'node:path';
import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const SEND = vscode.l10n.t('Send It');
const DECLINE = vscode.l10n.t('Don’t Send');

/** Asks before a file from outside of the workspace is sent to a model. An answer holds until the window is closed. */
export class AttachmentConsent {
  readonly #answers = new Map<string, boolean>();
  /** Two links to the same file in one request are one question. */
  readonly #asked = new Map<string, Promise<boolean>>();

  /** `path` is the real one, with every symbolic link followed. */
  mayRead(path: string): Promise<boolean> {
    const known = this.#answers.get(path);
    if (known !== undefined) return Promise.resolve(known);
    const asked = this.#asked.get(path) ?? this.#ask(path).finally(() => this.#asked.delete(path));
    this.#asked.set(path, asked);
    return asked;
  }

  forget(): void {
    this.#answers.clear();
  }

  /** A question that is only closed is a no that is asked again. */
  async #ask(path: string): Promise<boolean> {
    const answer = await vscode.window.showWarningMessage(
      vscode.l10n.t('Send the file {0} to the model?', plainMessage(basename(path))),
      {
        modal: true,
        detail: `${showInvisible(path)}\n\n${vscode.l10n.t('The chat links to it, and it is outside of this workspace.')}`,
      },
      SEND,
      DECLINE,
    );
    if (answer !== undefined) this.#answers.set(path, answer === SEND);
    return answer === SEND;
  }
}
