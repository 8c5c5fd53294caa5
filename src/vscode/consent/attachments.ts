import { lstatSync } from 'node:fs';
import * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { askInNotice } from './noticeQuestion.ts';

const SEND = vscode.l10n.t('Send File');
const SEND_LIST = vscode.l10n.t('Send List');
const DECLINE = vscode.l10n.t('Don’t Send');
const FETCH = vscode.l10n.t('Fetch');
const DECLINE_FETCH = vscode.l10n.t('Don’t Fetch');

/** A longer path is shown whole in the details. */
const MAX_PATH_CHARS = 300;

interface Question {
  /** What the answer is remembered for. */
  readonly key: string;
  /** The path or address in the message, which may be too long for it. */
  readonly about: string;
  readonly message: string;
  readonly answers: readonly [yes: string, no: string];
}

/**
 * Asks before a file outside of the workspace is sent to a model, and before a host on the web is contacted. Answers are
 * kept until the window is closed.
 */
export class AttachmentConsent {
  /** Two links to one file in a request share a question. */
  readonly #answers = new Map<string, Promise<string | undefined>>();

  /** `path` is the real path, with symbolic links resolved. */
  mayRead(path: string, chat: vscode.Uri, signal?: AbortSignal): Promise<boolean> {
    const shown = plainMessage(path, MAX_PATH_CHARS);
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const message = isFolder
      ? vscode.l10n.t(
          'A link points outside this workspace. Send the names and sizes of the files in the folder {0} to the model?',
          shown,
        )
      : vscode.l10n.t('A link points outside this workspace. Send the file {0} to the model?', shown);
    const answers = [isFolder ? SEND_LIST : SEND, DECLINE] as const;
    return this.#isAllowed({ key: path, about: path, message, answers }, chat, signal);
  }

  /** Yes counts for all addresses of the host. No counts once, because each fetch is a command of the user. */
  async mayFetch({ host, href }: URL, chat: vscode.Uri, signal?: AbortSignal): Promise<boolean> {
    const message = vscode.l10n.t(
      'Fetch {0} and save it beside the chat? It is then sent to the model with your turn. Filechat does not ask again for {1} until the window is closed.',
      plainMessage(href, MAX_PATH_CHARS),
      plainMessage(host, MAX_PATH_CHARS),
    );
    const key = `host:${host}`;
    const question = { key, about: href, message, answers: [FETCH, DECLINE_FETCH] as const };
    const isAllowed = await this.#isAllowed(question, chat, signal);
    if (!isAllowed) this.#answers.delete(key);
    return isAllowed;
  }

  forget(): void {
    this.#answers.clear();
  }

  async #isAllowed(question: Question, chat: vscode.Uri, signal?: AbortSignal): Promise<boolean> {
    const { key, answers } = question;
    const given = await unlessAborted(Promise.resolve(this.#answers.get(key)), signal);
    if (given !== undefined) return given === answers[0];
    const asked = ask(question, chat, signal);
    this.#answers.set(key, asked);
    return (await asked) === answers[0];
  }
}

/** Cancel means no, but the question comes again next time. */
function ask(
  { about, message, answers }: Question,
  chat: vscode.Uri,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const isLong = about.length > MAX_PATH_CHARS;
  const details = isLong ? { details: showInvisible(about), mustSeeDetails: true } : {};
  return askInNotice({ chat: chat.toString(), message, answers, ...details }, signal);
}
