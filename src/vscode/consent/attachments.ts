import { basename } from 'node:path';
import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const SEND = vscode.l10n.t('Send It');
const DECLINE = vscode.l10n.t('Don’t Send');

/** Asks before a file outside of the workspace is sent to a model. Answers are kept until the window is closed. */
export class AttachmentConsent {
  /** Two links to one file in a request share a dialog. */
  readonly #answers = new Map<string, Promise<string | undefined>>();

  /** `path` is the real path, with symbolic links resolved. */
  async mayRead(path: string): Promise<boolean> {
    const asked = this.#answers.get(path) ?? this.#ask(path);
    this.#answers.set(path, asked);
    return (await asked) === SEND;
  }

  forget(): void {
    this.#answers.clear();
  }

  /** A dismissed dialog means no, but is shown again next time. */
  async #ask(path: string): Promise<string | undefined> {
    const question = vscode.l10n.t('Send the file {0} to the model?', plainMessage(basename(path)));
    const reason = vscode.l10n.t('The chat links to it, and it is outside of this workspace.');
    const detail = `${showInvisible(path)}\n\n${reason}`;
    let answer: string | undefined;
    try {
      answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, SEND, DECLINE);
      return answer;
    } finally {
      if (answer === undefined) this.#answers.delete(path);
    }
  }
}
