import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { deferred, untilAborted } from '../../base/async.ts';
import type { AlwaysAllowedServers } from '../../mcp/requests/requestLimit.ts';
import { answerSampling } from '../../model/sampling/sampling.ts';
import {
  readEditedAnswer,
  readEditedSampling,
  renderAnswer,
  renderSampling,
} from '../../model/sampling/text.ts';
import type { ChatModel } from '../../ports/models.ts';
import type { AskedBy, SamplingAnswer, SamplingRequest } from '../../ports/servers.ts';
import { editDocument } from '../chat/editorDocument.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { DeclinedError, type Note } from './audited.ts';

export interface SamplingDeps {
  /** By the URI of a chat; undefined gives the default model. */
  readonly modelFor: (chat: string | undefined) => Promise<ChatModel>;
  /** Permissions are kept by fingerprint, so that another server of the same name does not inherit them. */
  readonly serverFingerprint: (server: string) => Promise<string>;
  readonly always: AlwaysAllowedServers;
  readonly note: Note;
}

const SEND = vscode.l10n.t('Send');
const EDIT_REQUEST = vscode.l10n.t('Show and Edit');
const ALWAYS = vscode.l10n.t('Always for This Server');
const SEND_BACK = vscode.l10n.t('Send Back');
const EDIT_ANSWER = vscode.l10n.t('Edit');
/** Also the result of Escape. */
const DONT_SEND: vscode.MessageItem = { title: vscode.l10n.t('Don’t Send'), isCloseAffordance: true };

/**
 * Sends a server's request to the chat's model. The user sees, and may edit, the request and the answer. Rejects with a
 * message for the server.
 */
export async function askSampling(
  request: SamplingRequest,
  by: AskedBy,
  deps: SamplingDeps,
  signal: AbortSignal,
): Promise<SamplingAnswer> {
  const model = await deps.modelFor(by.chats[0]);
  const fingerprint = await deps.serverFingerprint(by.server);
  const sampling = { server: plainMessage(by.server), model, signal };
  const wasAlways = deps.always.has(fingerprint);
  const allowAlways = () => deps.always.add(fingerprint);
  const sent = wasAlways ? request : await approveRequest(request, sampling, allowAlways);
  signal.throwIfAborted();
  if (!sent) throw new DeclinedError('denied');
  deps.note({ consent: wasAlways ? 'remembered' : 'asked' });
  const answer = await answerWithProgress(sent, sampling);
  signal.throwIfAborted();
  const approved = deps.always.has(fingerprint) ? answer : await approveAnswer(answer, sampling);
  signal.throwIfAborted();
  if (!approved) throw new DeclinedError('denied');
  return approved;
}

interface Sampling {
  readonly server: string;
  readonly model: ChatModel;
  readonly signal: AbortSignal;
}

function approveRequest(
  request: SamplingRequest,
  { server, model, signal }: Sampling,
  allowAlways: () => void,
): Promise<SamplingRequest | undefined> {
  return approve(request, {
    question: vscode.l10n.t(
      'The server “{0}” wants to ask your model {1}.',
      server,
      plainMessage(model.name),
    ),
    text: renderSampling(request),
    accept: SEND,
    edit: EDIT_REQUEST,
    allowAlways,
    about: (accept, refuse) => vscode.l10n.t('{0} or {1} to your model, with your changes.', accept, refuse),
    read: (edited) => readEditedSampling(edited, request),
    signal,
  });
}

function approveAnswer(
  answer: SamplingAnswer,
  { server, signal }: Sampling,
): Promise<SamplingAnswer | undefined> {
  return approve(answer, {
    question: vscode.l10n.t('Send this answer to the server “{0}”?', server),
    text: renderAnswer(answer),
    accept: SEND_BACK,
    edit: EDIT_ANSWER,
    about: (accept, refuse) => vscode.l10n.t('{0} or {1} to the server, with your changes.', accept, refuse),
    read: (edited) => readEditedAnswer(edited, answer),
    signal,
  });
}

interface Question<T> {
  readonly question: string;
  readonly text: string;
  readonly accept: string;
  readonly edit: string;
  readonly allowAlways?: () => void;
  /** The notification text around the two links, while the text is edited. */
  readonly about: (accept: string, refuse: string) => string;
  readonly read: (text: string) => T | { readonly problem: string };
  readonly signal: AbortSignal;
}

/** Resolves to the value, as it is or edited, or to undefined when the user refuses. */
async function approve<T extends object>(value: T, question: Question<T>): Promise<T | undefined> {
  const { accept, edit, allowAlways, signal } = question;
  const titles = [accept, edit, ...(allowAlways ? [ALWAYS] : [])];
  const choice = await untilAborted(
    vscode.window.showInformationMessage(
      question.question,
      { modal: true, detail: cutMiddle(question.text) },
      ...titles.map((title): vscode.MessageItem => ({ title })),
      DONT_SEND,
    ),
    signal,
  );
  if (!choice || choice.title === DONT_SEND.title) return undefined;
  if (choice.title === edit) return editInDocument(question);
  if (choice.title === ALWAYS) allowAlways?.();
  return value;
}

const MAX_SHOWN_CHARS = 3_000;
const HEAD_CHARS = 2_000;
const TAIL_CHARS = 800;

/** Keeps the beginning and the end, which usually say what a request is about. */
function cutMiddle(text: string): string {
  if (text.length <= MAX_SHOWN_CHARS) return text;
  const left = (text.length - HEAD_CHARS - TAIL_CHARS).toLocaleString(vscode.env.language);
  const gap = vscode.l10n.t('⚠ {0} characters are not shown here. Edit shows all of them.', left);
  return `${text.slice(0, HEAD_CHARS).toWellFormed()}\n\n${gap}\n\n${text.slice(-TAIL_CHARS).toWellFormed()}`;
}

async function answerWithProgress(
  request: SamplingRequest,
  { server, model, signal }: Sampling,
): Promise<SamplingAnswer> {
  const title = vscode.l10n.t('{0} answers the server “{1}”…', plainMessage(model.name), server);
  const answer = await withNotice(title, (stop) =>
    answerSampling(request, model, AbortSignal.any([signal, stop])),
  );
  if (!answer) throw new DeclinedError('cancelled');
  return answer;
}

/** Resolves to undefined when the user refuses or closes the document. */
async function editInDocument<T extends object>(question: Question<T>): Promise<T | undefined> {
  const { text, read, signal } = question;
  const document = await showText(text);
  try {
    for (;;) {
      if (!(await decide(document, question)) || signal.aborted) return undefined;
      const edited = read(document.getText());
      if (!('problem' in edited)) return edited;
      void vscode.window.showErrorMessage(plainMessage(edited.problem));
    }
  } finally {
    await closeUnsaved(document);
  }
}

/** Inserts the text after showing the document: the editor opens a hidden dirty document a second time. */
async function showText(text: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument({ language: 'markdown' });
  const place = { viewColumn: vscode.ViewColumn.Beside, preview: false };
  const editor = await vscode.window.showTextDocument(document, place);
  const start = new vscode.Position(0, 0);
  await editDocument(document, () => ({ start: 0, end: 0, text }));
  editor.selection = new vscode.Selection(start, start);
  editor.revealRange(editor.selection);
  return document;
}

/** Uses links in a progress notification, the only kind that stays open. */
async function decide(
  document: vscode.TextDocument,
  { about, accept, signal }: Pick<Question<object>, 'about' | 'accept' | 'signal'>,
): Promise<boolean> {
  const { promise, resolve } = deferred<boolean>();
  const id = randomUUID();
  const [yes, no] = [`filechat.edited.${id}.accept`, `filechat.edited.${id}.refuse`];
  const stop = () => resolve(false);
  signal.addEventListener('abort', stop, { once: true });
  const subscriptions = vscode.Disposable.from(
    vscode.commands.registerCommand(yes, () => resolve(true)),
    vscode.commands.registerCommand(no, stop),
    vscode.window.tabGroups.onDidChangeTabs(
      ({ closed }) => closed.some((tab) => shows(tab, document)) && stop(),
    ),
    vscode.workspace.onDidCloseTextDocument((closed) => closed === document && stop()),
  );
  // The links come first, because the end of a long line is cut off.
  const title = about(`[${accept}](command:${yes})`, `[${vscode.l10n.t('Don’t Send')}](command:${no})`);
  try {
    if (document.isClosed || signal.aborted) return false;
    const location = vscode.ProgressLocation.Notification;
    return await vscode.window.withProgress({ location, title }, () => promise);
  } finally {
    signal.removeEventListener('abort', stop);
    subscriptions.dispose();
  }
}

async function closeUnsaved(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed) return;
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter((tab) => shows(tab, document));
  for (const { group } of tabs) {
    await vscode.window.showTextDocument(document, { viewColumn: group.viewColumn, preserveFocus: false });
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  }
}

function shows(tab: vscode.Tab, document: vscode.TextDocument): boolean {
  return tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === document.uri.toString();
}
