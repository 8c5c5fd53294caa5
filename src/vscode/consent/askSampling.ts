import * as vscode from 'vscode';
import type { AlwaysAllowedServers } from '../../mcp/requests/requestLimit.ts';
import { answerSampling } from '../../model/sampling/answerSampling.ts';
import {
  readEditedAnswer,
  readEditedSampling,
  renderAnswer,
  renderSampling,
} from '../../model/sampling/text.ts';
import type { ChatModel } from '../../ports/models.ts';
import type { AskedBy, SamplingAnswer, SamplingRequest } from '../../ports/servers.ts';
import { editDocument } from '../chat/editorDocument.ts';
import { closedUris, textTabs } from '../chat/tabs.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { DeclinedError, type Note } from './audited.ts';
import { askInNotice } from './noticeQuestion.ts';

export interface SamplingDeps {
  /** By the URI of a chat; undefined gives the default model. */
  readonly modelFor: (chat: string | undefined) => Promise<ChatModel>;
  /** Permissions are kept by fingerprint, so that another server of the same name does not inherit them. */
  readonly serverFingerprint: (server: string) => Promise<string>;
  readonly always: AlwaysAllowedServers;
  readonly note: Note;
}

const SEND = vscode.l10n.t('Send');
const EDIT = vscode.l10n.t('Show and Edit');
const ALWAYS = vscode.l10n.t('Always Send for This Server');
const SEND_RESPONSE = vscode.l10n.t('Send Response');
const DONT_SEND = vscode.l10n.t('Don’t Send');

/** A longer text can only be sent after it was shown in an editor. */
const MAX_SHOWN_CHARS = 400;

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
  const sampling = { server: plainMessage(by.server), chat: by.chats[0], model, signal };
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
  readonly chat: string | undefined;
  readonly model: ChatModel;
  readonly signal: AbortSignal;
}

function approveRequest(
  request: SamplingRequest,
  { server, model, chat, signal }: Sampling,
  allowAlways: () => void,
): Promise<SamplingRequest | undefined> {
  return approve(request, {
    question: vscode.l10n.t(
      'The server “{0}” wants to send a request to your model {1}.',
      server,
      plainMessage(model.name),
    ),
    edited: vscode.l10n.t('Send the request of “{0}” to your model, with your changes?', server),
    text: renderSampling(request),
    accept: SEND,
    allowAlways,
    read: (edited) => readEditedSampling(edited, request),
    chat,
    signal,
  });
}

function approveAnswer(
  answer: SamplingAnswer,
  { server, chat, signal }: Sampling,
): Promise<SamplingAnswer | undefined> {
  return approve(answer, {
    question: vscode.l10n.t('Send this response to the server “{0}”?', server),
    edited: vscode.l10n.t('Send the response to the server “{0}”, with your changes?', server),
    text: renderAnswer(answer),
    accept: SEND_RESPONSE,
    read: (edited) => readEditedAnswer(edited, answer),
    chat,
    signal,
  });
}

interface Question<T> {
  readonly question: string;
  /** The question while the text is open in an editor. */
  readonly edited: string;
  readonly text: string;
  readonly accept: string;
  readonly allowAlways?: () => void;
  readonly read: (text: string) => T | { readonly problem: string };
  readonly chat: string | undefined;
  readonly signal: AbortSignal;
}

/** Resolves to the value, as it is or edited, or to undefined when the user refuses. */
async function approve<T extends object>(value: T, question: Question<T>): Promise<T | undefined> {
  const { text, accept, allowAlways, chat, signal } = question;
  const isWhole = text.length <= MAX_SHOWN_CHARS;
  const answers = [...(isWhole ? [accept] : []), EDIT, ...(allowAlways ? [ALWAYS] : []), DONT_SEND];
  const message = `${question.question} “${plainMessage(text, MAX_SHOWN_CHARS)}”`;
  const choice = await askInNotice({ chat, message, answers }, signal);
  if (choice === undefined || choice === DONT_SEND) return undefined;
  if (choice === EDIT) return editInDocument(question);
  if (choice === ALWAYS) allowAlways?.();
  return value;
}

async function answerWithProgress(
  request: SamplingRequest,
  { server, model, signal }: Sampling,
): Promise<SamplingAnswer> {
  const title = vscode.l10n.t('{0} is responding to the server “{1}”…', plainMessage(model.name), server);
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
      if (!(await isAccepted(document, question)) || signal.aborted) return undefined;
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

async function isAccepted(
  document: vscode.TextDocument,
  { edited, accept, chat, signal }: Pick<Question<object>, 'edited' | 'accept' | 'chat' | 'signal'>,
): Promise<boolean> {
  if (document.isClosed) return false;
  const until = (end: () => void) =>
    vscode.Disposable.from(
      vscode.window.tabGroups.onDidChangeTabs(
        ({ closed }) => closedUris(closed).some((uri) => uri.toString() === document.uri.toString()) && end(),
      ),
      vscode.workspace.onDidCloseTextDocument((closed) => closed === document && end()),
    );
  const question = { chat, message: edited, answers: [accept, DONT_SEND], until };
  return (await askInNotice(question, signal)) === accept;
}

async function closeUnsaved(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed) return;
  for (const { group } of textTabs(document.uri)) {
    await vscode.window.showTextDocument(document, { viewColumn: group.viewColumn, preserveFocus: false });
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  }
}
