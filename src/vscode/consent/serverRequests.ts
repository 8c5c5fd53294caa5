import * as vscode from 'vscode';
import { Queues } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { checkElicitationUrl } from '../../mcp/requests/elicitation.ts';
import { PendingRequestLimit } from '../../mcp/requests/requestLimit.ts';
import type { ArgumentQuestion } from '../../mcp/schema/answer.ts';
import { argumentQuestions, withPatterns } from '../../mcp/schema/arguments.ts';
import type { AskedBy, Elicitation, ElicitationAnswer, ServerRequests } from '../../ports/servers.ts';
import type { Audit, AuditEntry } from '../../ports/tools.ts';
import { askInput, type Choice } from '../ui/askInput.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type Answers, askQuestions } from '../ui/wizard.ts';
import { askSampling, type SamplingDeps } from './askSampling.ts';
import { audited, FORM_OUTCOMES, type Note } from './audited.ts';
import { describeAnswer, describeForm, describeUrl, noticeOfForm, noticeOfUrl } from './elicitationText.ts';
import { askInNotice, type NoticeQuestion } from './noticeQuestion.ts';

const ANSWER = vscode.l10n.t('Answer…');
const AGREE = vscode.l10n.t('Agree');
const OPEN = vscode.l10n.t('Open');
const DECLINE = vscode.l10n.t('Decline');
const DONE = vscode.l10n.t('Done');
const CANCEL_REQUEST = vscode.l10n.t('Cancel Request');

/** Answers the requests of servers, and records each in the audit log. */
export function editorRequests(audit: Audit, deps: Omit<SamplingDeps, 'note'>): ServerRequests {
  const limit = new PendingRequestLimit();
  const forms = new Queues();
  const handle = <T>(
    { by, signal, ...entry }: Handled,
    work: (note: Note) => Promise<T>,
    isRefusal?: (result: T) => boolean,
  ) =>
    audited(
      audit,
      { ...entry, server: by.server, chat: by.chats[0] },
      (note) => limit.run(by.server, () => work(note), isRefusal),
      signal,
    );
  return {
    elicit: (request, by, signal) =>
      handle(
        { kind: 'elicitation', name: request.kind, by, signal },
        async (note) => {
          const answer = await askElicitation(request, { by, signal, forms });
          note(FORM_OUTCOMES[answer.action]);
          return answer;
        },
        ({ action }) => action !== 'accept' && !signal.aborted,
      ),
    visited: (_request, by, signal) => askWhetherDone(by, signal),
    sample: (request, by, signal) =>
      handle({ kind: 'sampling', by, signal }, (note) => askSampling(request, by, { ...deps, note }, signal)),
    roots: async () =>
      (vscode.workspace.workspaceFolders ?? [])
        .filter(({ uri }) => uri.scheme === 'file')
        .map(({ uri, name }) => ({ uri: uri.toString(), name })),
  };
}

interface Handled extends Pick<AuditEntry, 'kind' | 'name'> {
  readonly by: AskedBy;
  readonly signal: AbortSignal;
}

/** Ends, without an answer, when the server reports that the visit is done. */
async function askWhetherDone({ server, chats }: AskedBy, signal: AbortSignal): Promise<boolean> {
  const message = vscode.l10n.t(
    'Did you complete the request of the server “{0}” in the browser?',
    plainMessage(server),
  );
  return (await askInNotice({ chat: chats[0], message, answers: [DONE, CANCEL_REQUEST] }, signal)) === DONE;
}

interface Asking {
  readonly by: AskedBy;
  readonly signal: AbortSignal;
  /** One form at a time: a second would close the inputs of the first. */
  readonly forms: Queues;
}

/** Asks the user on behalf of a server. Nothing takes the focus before the user wants to answer. */
async function askElicitation(request: Elicitation, asking: Asking): Promise<ElicitationAnswer> {
  return request.kind === 'form' ? askForm(request, asking) : askToOpen(request, asking);
}

async function confirm(
  { accept, ...question }: Omit<NoticeQuestion<string>, 'chat' | 'answers'> & { readonly accept: string },
  { by, signal }: Asking,
): Promise<ElicitationAnswer['action']> {
  const answer = await askInNotice({ ...question, chat: by.chats[0], answers: [accept, DECLINE] }, signal);
  if (answer === DECLINE) return 'decline';
  return answer === accept && !signal.aborted ? 'accept' : 'cancel';
}

async function askForm(
  { message, schema }: Extract<Elicitation, { kind: 'form' }>,
  asking: Asking,
): Promise<ElicitationAnswer> {
  const questions = await withPatterns(argumentQuestions(schema));
  const { text, isWhole } = noticeOfForm(asking.by.server, message, questions);
  const isAgreement = questions.length === 0;
  const action = await confirm(
    {
      message: text,
      details: describeForm(message, questions),
      mustSeeDetails: isAgreement && !isWhole,
      accept: isAgreement ? AGREE : ANSWER,
    },
    asking,
  );
  if (action !== 'accept') return { action };
  if (isAgreement) return { action, content: {} };
  return asking.forms.run('form', () => fillForm(questions, asking));
}

async function fillForm(
  questions: readonly ArgumentQuestion[],
  { by, signal }: Asking,
): Promise<ElicitationAnswer> {
  const server = plainMessage(by.server);
  let declined = false;
  const answers = await askQuestions(questions, {
    title: vscode.l10n.t('{0} asks', server),
    signal,
    review: async (given) => {
      const next = await review(questions, given, { server, signal });
      declined = next === 'decline';
      return next === 'decline' ? 'cancel' : next;
    },
  });
  if (declined) return { action: 'decline' };
  return answers ? { action: 'accept', content: answers } : { action: 'cancel' };
}

/** Shows all answers before they are sent; choosing one leads back to its question. */
async function review(
  questions: readonly ArgumentQuestion[],
  answers: Answers,
  { server, signal }: { readonly server: string; readonly signal: AbortSignal },
): Promise<'accept' | 'decline' | 'cancel' | number> {
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = vscode.l10n.t('{0} asks: your answers', server);
  pick.placeholder = vscode.l10n.t('Send these answers, or choose one to change it');
  pick.items = [
    { label: `$(check) ${vscode.l10n.t('Send to {0}', server)}`, text: 'accept' },
    { label: `$(circle-slash) ${vscode.l10n.t('Decline to answer')}`, text: 'decline' },
    { label: vscode.l10n.t('Your answers'), kind: vscode.QuickPickItemKind.Separator, text: '' },
    ...questions.map((question, index) => ({
      label: plainMessage(question.title),
      description: describeAnswer(question, answers[question.name]),
      text: String(index),
    })),
  ];
  const input = Object.assign(pick, { accepted: () => pick.activeItems[0]?.text });
  const reply = await askInput(input, { canGoBack: true }, signal);
  if (reply.kind !== 'answer') return reply.kind === 'back' ? questions.length - 1 : 'cancel';
  return reply.text === 'accept' || reply.text === 'decline' ? reply.text : Number(reply.text);
}

async function askToOpen(
  { message, url }: Extract<Elicitation, { kind: 'url' }>,
  asking: Asking,
): Promise<ElicitationAnswer> {
  const { server } = asking.by;
  const address = readAddress(url, plainMessage(server));
  if (!address) return { action: 'decline' };
  const { text, isWhole } = noticeOfUrl(server, message, address);
  const action = await confirm(
    { message: text, details: describeUrl(message, address), mustSeeDetails: !isWhole, accept: OPEN },
    asking,
  );
  if (action !== 'accept') return { action };
  return { action: (await openInBrowser(address)) ? 'accept' : 'cancel' };
}

/** Undefined, with a warning to the user, if the address must not be opened. */
function readAddress(url: string, server: string): URL | undefined {
  try {
    return checkElicitationUrl(url);
  } catch (error) {
    const reason = plainMessage(messageOf(error));
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The server “{0}” asked you to open an address that is not allowed. {1}', server, reason),
    );
    return undefined;
  }
}
