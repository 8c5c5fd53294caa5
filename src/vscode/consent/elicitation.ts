import * as vscode from 'vscode';
import { untilAborted } from '../../base/async.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import { checkElicitationUrl } from '../../mcp/requests/elicitation.ts';
import { printAnswer } from '../../mcp/schema/answer.ts';
import { askableArguments } from '../../mcp/schema/arguments.ts';
import type { ArgumentQuestion } from '../../mcp/schema/question.ts';
import type { AskedBy, Elicitation, ElicitationAnswer } from '../../ports/requests.ts';

import { type Answers, askQuestions } from '../ui/askQuestions.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

const ANSWER = vscode.l10n.t('Answer');
const AGREE = vscode.l10n.t('Agree');
const OPEN = vscode.l10n.t('Open');
const DECLINE = vscode.l10n.t('Decline');

/** Asks the user what a server wants to know, with the server's name over everything. Sends nothing by itself. */
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
  const questions = askableArguments(schema);
  const go = questions.length === 0 ? AGREE : ANSWER;
  const first = await untilAborted(
    vscode.window.showInformationMessage(
      vscode.l10n.t('The server “{0}” asks you something.', server),
      { modal: true, detail: describeForm(message, questions) },
      go,
      DECLINE,
    ),
    signal,
  );
  if (first === DECLINE) return { action: 'decline' };
  if (first !== go || signal.aborted) return { action: 'cancel' };
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

/** Shows all answers before they are sent; a click on one of them leads back to its question. */
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

/** An address that may not be opened is not even offered; the user is told, and may want to know such a server. */
function readAddress(url: string, server: string): URL | undefined {
  try {
    return checkElicitationUrl(url);
  } catch (error) {
    const reason = plainMessage((error as Error).message);
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The server “{0}” wanted you to open an address, and was refused. {1}', server, reason),
    );
    return undefined;
  }
}

/** A dialog that is longer than this cannot be read any more on a small screen. */
const MAX_SHOWN_CHARS = 2_000;
const MAX_FIELDS_NAMED = 20;

/** The server's words, and which fields will be asked for. */
export function describeForm(message: string, questions: readonly ArgumentQuestion[]): string {
  const named = questions.slice(0, MAX_FIELDS_NAMED).map(({ title }) => plainMessage(title));
  if (questions.length === 0) return inItsWords(message);
  const more = questions.length - named.length;
  const fields = more > 0 ? t('{0}, and {1} more', named.join(', '), more) : named.join(', ');
  return [inItsWords(message), t('It asks for: {0}.', fields), noSecrets()].join('\n\n');
}

function noSecrets(): string {
  return t(
    'Nothing is sent before you have seen all your answers. Give no passwords and no keys: a server must not ask for them in this way.',
  );
}

/** The host has a line of its own, because the rest of an address can be made to look like one. */
export function describeUrl(message: string, url: URL): string {
  return [
    inItsWords(message),
    `${t('Host:')}\n${url.host}`,
    `${t('Whole address:')}\n${url.href}`,
    t('Nothing has been opened yet. What you do there is between you and {0}.', url.host),
  ].join('\n\n');
}

/** An answer in a list of answers. */
export function describeAnswer(question: ArgumentQuestion, value: unknown): string {
  if (value === undefined) return t('(left out)');
  if (question.kind === 'yesNo') return value === true ? t('Yes') : t('No');
  if (question.kind === 'choice' || question.kind === 'choices') {
    const chosen = question.choices.filter((choice) =>
      question.kind === 'choices' && Array.isArray(value)
        ? value.includes(choice.value)
        : choice.value === value,
    );
    return plainMessage(chosen.map(({ label }) => label).join(', ') || t('(none)'));
  }
  return plainMessage(printAnswer(question, value));
}

/** What a server says must not be taken for our own words. */
function inItsWords(message: string): string {
  const text = showInvisible(message).trim();
  const cut = text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…`;
  return `${t('It says:')}\n${cut}`;
}
