import * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { askInNotice } from './noticeQuestion.ts';

const SEND = vscode.l10n.t('Send File');
const DECLINE = vscode.l10n.t('Don’t Send');

/** A longer path is shown whole in the details. */
const MAX_PATH_CHARS = 300;

/** Asks before a file outside of the workspace is sent to a model. Answers are kept until the window is closed. */
export class AttachmentConsent {
  /** By path. Two links to one file in a request share a question. */
  readonly #answers = new Map<string, Promise<string | undefined>>();

  /** `path` is the real path, with symbolic links resolved. */
  async mayRead(path: string, chat: vscode.Uri, signal?: AbortSignal): Promise<boolean> {
    const given = await unlessAborted(Promise.resolve(this.#answers.get(path)), signal);
    if (given !== undefined) return given === SEND;
    const asked = this.#ask(path, chat, signal);
    this.#answers.set(path, asked);
    return (await asked) === SEND;
  }

  forget(): void {
    this.#answers.clear();
  }

  /** Cancel means no, but the question comes again next time. */
  async #ask(path: string, chat: vscode.Uri, signal?: AbortSignal): Promise<string | undefined> {
    const message = vscode.l10n.t(
      'A link points outside this workspace. Send the file {0} to the model?',
      plainMessage(path, MAX_PATH_CHARS),
    );
    const isLong = path.length > MAX_PATH_CHARS;
    return askInNotice(
      {
        chat: chat.toString(),
        message,
        answers: [SEND, DECLINE],
        ...(isLong && { details: showInvisible(path), mustSeeDetails: true }),
      },
      signal,
    );
  }
}
