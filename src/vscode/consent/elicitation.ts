import * as vscode from 'vscode';
import { untilAborted } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { checkElicitationUrl } from '../../mcp/requests/elicitation.ts';
import { argumentQuestions } from '../../mcp/schema/arguments.ts';
import type { ArgumentQuestion } from '../../mcp/schema/question.ts';
import type { AskedBy, Elicitation, ElicitationAnswer } from '../../ports/servers.ts';
import { type Answers, askQuestions } from '../ui/askQuestions.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { describeAnswer, describeForm, describeUrl } from './elicitationText.ts';

const ANSWER = vscode.l10n.t('Answer');
const AGREE = vscode.l10n.t('Agree');
const OPEN = vscode.l10n.t('Open');
const DECLINE = vscode.l10n.t('Decline');

/** Asks the user on behalf of a server. Every dialog shows the server's name. */
export async function askElicitation(
  request: Elicitation,
  by: AskedBy,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const server = plainMessage(by.server);
  return request.kind === 'form' ? askForm(request, server, signal) : askToOpen(request, server, signal);
}

async function askForm(
  { message, schema }: Extract<Elicitation, { kind: 'form' }>,
  server: string,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const questions = argumentQuestions(schema);
  const accept = questions.length === 0 ? AGREE : ANSWER;
  const first = await untilAborted(
    vscode.window.showInformationMessage(
      vscode.l10n.t('The server “{0}” asks you something.', server),
      { modal: true, detail: describeForm(message, questions) },
      accept,
      DECLINE,
    ),
    signal,
  );
  if (first === DECLINE) return { action: 'decline' };
  if (first !== accept || signal.aborted) return { action: 'cancel' };
  let declined = false;
  const answers = await askQuestions(questions, {
    title: vscode.l10n.t('{0} asks', server),
    signal,
    review: async (given) => {
      if (questions.length === 0) return 'accept';
      const next = await review(questions, given, { server, signal });
      declined = next === 'decline';
      return next === 'decline' ? 'cancel' : next;
    },
  });
  if (declined) return { action: 'decline' };
  return answers ? { action: 'accept', content: answers } : { action: 'cancel' };
}

interface ReviewItem extends vscode.QuickPickItem {
  readonly next: 'accept' | 'decline' | number;
}

/** Shows all answers before they are sent; choosing one leads back to its question. */
async function review(
  questions: readonly ArgumentQuestion[],
  answers: Answers,
  { server, signal }: { readonly server: string; readonly signal: AbortSignal },
): Promise<ReviewItem['next'] | 'cancel'> {
  const pick = vscode.window.createQuickPick<ReviewItem | vscode.QuickPickItem>();
  pick.title = vscode.l10n.t('{0} asks: your answers', server);
  pick.placeholder = vscode.l10n.t('Send these answers, or choose one to change it');
  pick.ignoreFocusOut = true;
  pick.buttons = [vscode.QuickInputButtons.Back];
  pick.items = [
    { label: `$(check) ${vscode.l10n.t('Send to {0}', server)}`, next: 'accept' },
    { label: `$(circle-slash) ${vscode.l10n.t('Decline to answer')}`, next: 'decline' },
    { label: vscode.l10n.t('Your answers'), kind: vscode.QuickPickItemKind.Separator },
    ...questions.map((question, next) => ({
      label: plainMessage(question.title),
      description: describeAnswer(question, answers[question.name]),
      next,
    })),
  ];
  const close = () => pick.hide();
  signal.addEventListener('abort', close);
  const chosen = new Promise<ReviewItem['next'] | 'cancel'>((resolve) => {
    pick.onDidTriggerButton(() => resolve(questions.length - 1));
    pick.onDidHide(() => resolve('cancel'));
    pick.onDidAccept(() => {
      const [item] = pick.activeItems;
      if (item && 'next' in item) resolve(item.next);
    });
  });
  pick.show();
  return chosen.finally(() => {
    signal.removeEventListener('abort', close);
    pick.dispose();
  });
}

async function askToOpen(
  { message, url }: Extract<Elicitation, { kind: 'url' }>,
  server: string,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const address = readAddress(url, server);
  if (!address) return { action: 'decline' };
  const answer = await untilAborted(
    vscode.window.showInformationMessage(
      vscode.l10n.t('The server “{0}” wants you to open an address in your browser.', server),
      { modal: true, detail: describeUrl(message, address) },
      OPEN,
      DECLINE,
    ),
    signal,
  );
  if (answer === DECLINE) return { action: 'decline' };
  if (answer !== OPEN || signal.aborted) return { action: 'cancel' };
  return { action: (await openInBrowser(address)) ? 'accept' : 'cancel' };
}

/** Undefined, with a warning to the user, if the address must not be opened. */
function readAddress(url: string, server: string): URL | undefined {
  try {
    return checkElicitationUrl(url);
  } catch (error) {
    const reason = plainMessage(messageOf(error));
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The server “{0}” wanted you to open an address, and was refused. {1}', server, reason),
    );
    return undefined;
  }
}
