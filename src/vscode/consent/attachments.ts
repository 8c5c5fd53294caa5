import { basename } from 'node:path';
import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const SEND = vscode.l10n.t('Send It');
const DECLINE = vscode.l10n.t('Don’t Send');

/** Asks before a file outside of the workspace is sent to a model. Answers are kept until the window is closed. */
export class AttachmentConsent {
  readonly #answers = new Map<string, boolean>();
  /** Two links to one file in a request share a dialog. */
  readonly #pending = new Map<string, Promise<boolean>>();

  /** `path` is the real path, with symbolic links resolved. */
  mayRead(path: string): Promise<boolean> {
    const known = this.#answers.get(path);
    if (known !== undefined) return Promise.resolve(known);
    const answer = this.#pending.get(path) ?? this.#ask(path).finally(() => this.#pending.delete(path));
    this.#pending.set(path, answer);
    return answer;
  }

  forget(): void {
    this.#answers.clear();
  }

  /** A dismissed dialog means no, but is shown again next time. */
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
