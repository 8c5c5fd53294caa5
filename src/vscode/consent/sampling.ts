import * as vscode from 'vscode';
import { untilAborted } from '../../base/untilAborted.ts';
import { answerSampling } from '../../model/sampling/sampling.ts';
import {
  readEditedAnswer,
  readEditedSampling,
  renderAnswer,
  renderSampling,
} from '../../model/sampling/text.ts';
import type { AskedBy, ChatModel, SamplingAnswer, SamplingRequest } from '../../ports.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import type { AlwaysServers } from './alwaysServers.ts';
import { type Agreed, Declined } from './audit.ts';
import { editInDocument } from './samplingView.ts';

export interface SamplingParts {
  /** The model of a chat, by its address; of no chat, the one that new chats have. */
  readonly modelFor: (chat: string | undefined) => Promise<ChatModel>;
  /** What the server of that name is, so that another one of the same name gets no old consent. */
  readonly serverPrint: (server: string) => Promise<string>;
  readonly always: AlwaysServers;
  /** Told who lets the server ask. */
  readonly agreed: Agreed;
}

const SEND = vscode.l10n.t('Send');
const EDIT_REQUEST = vscode.l10n.t('Show and Edit');
const ALWAYS = vscode.l10n.t('Always for This Server');
const SEND_BACK = vscode.l10n.t('Send Back');
const EDIT_ANSWER = vscode.l10n.t('Edit');
/** The button that Escape stands for. */
const DONT_SEND: vscode.MessageItem = { title: vscode.l10n.t('Don’t Send'), isCloseAffordance: true };

/**
 * Lets a server ask the chat's model, if the user wants that, who sees and may change what is asked and answered.
 * Rejects with a sentence that the server may read.
 */
export async function askSampling(
  request: SamplingRequest,
  by: AskedBy,
  parts: SamplingParts,
  signal: AbortSignal,
): Promise<SamplingAnswer> {
  const model = await parts.modelFor(by.chats[0]);
  const print = await parts.serverPrint(by.server);
  const sampling = { server: plainMessage(by.server), model, signal };
  const wasAlways = parts.always.has(print);
  const sent = wasAlways ? request : await approveRequest(request, sampling, () => parts.always.add(print));
  signal.throwIfAborted();
  if (!sent) throw new Declined('denied');
  parts.agreed(wasAlways ? 'remembered' : 'asked');
  const answer = await answerWithProgress(sent, sampling);
  signal.throwIfAborted();
  const approved = parts.always.has(print) ? answer : await approveAnswer(answer, sampling);
  signal.throwIfAborted();
  if (!approved) throw new Declined('denied');
  return approved;
}

interface Sampling {
  readonly server: string;
  readonly model: ChatModel;
  readonly signal: AbortSignal;
}

async function approveRequest(
  request: SamplingRequest,
  { server, model, signal }: Sampling,
  remember: () => void,
): Promise<SamplingRequest | undefined> {
  const text = renderSampling(request);
  const question = vscode.l10n.t(
    'The server “{0}” wants to ask your model {1}.',
    server,
    plainMessage(model.name),
  );
  const choice = await choose(question, text, [SEND, EDIT_REQUEST, ALWAYS], signal);
  if (choice === ALWAYS) remember();
  if (choice !== EDIT_REQUEST) return choice === undefined ? undefined : request;
  return editInDocument(text, {
    about: (accept, refuse) => vscode.l10n.t('{0} or {1} to your model, with your changes.', accept, refuse),
    accept: SEND,
    read: (edited) => readEditedSampling(edited, request),
    signal,
  });
}

async function approveAnswer(
  answer: SamplingAnswer,
  { server, signal }: Sampling,
): Promise<SamplingAnswer | undefined> {
  const text = renderAnswer(answer);
  const question = vscode.l10n.t('Send this answer to the server “{0}”?', server);
  const choice = await choose(question, text, [SEND_BACK, EDIT_ANSWER], signal);
  if (choice !== EDIT_ANSWER) return choice === undefined ? undefined : answer;
  return editInDocument(text, {
    about: (accept, refuse) => vscode.l10n.t('{0} or {1} to the server, with your changes.', accept, refuse),
    accept: SEND_BACK,
    read: (edited) => readEditedAnswer(edited, answer),
    signal,
  });
}

async function choose(
  question: string,
  text: string,
  titles: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const buttons = titles.map((title): vscode.MessageItem => ({ title }));
  const choice = await untilAborted(
    vscode.window.showInformationMessage(
      question,
      { modal: true, detail: cutMiddle(text) },
      ...buttons,
      DONT_SEND,
    ),
    signal,
  );
  return choice && choice.title !== DONT_SEND.title ? choice.title : undefined;
}

const MAX_SHOWN_CHARS = 3_000;
const HEAD_CHARS = 2_000;
const TAIL_CHARS = 800;

/** The beginning and the end are where a request says what it is about. */
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
  if (!answer) throw new Declined('cancelled');
  return answer;
}
