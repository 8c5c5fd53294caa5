import { type ArgumentQuestion, printAnswer } from '../../mcp/schema/answer.ts';
import { plainMessage, quoteLines } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

const MAX_SHOWN_CHARS = 2_000;
const MAX_FIELDS_NAMED = 20;
/** In a notification, which also names the fields and the answers. */
const MAX_QUOTED_CHARS = 250;
const MAX_URL_CHARS = 250;

interface NoticeOfServer {
  readonly text: string;
  /** Otherwise the rest has to be seen in the details. */
  readonly isWhole: boolean;
}

/** The server's words are between quotation marks. */
export function noticeOfForm(
  server: string,
  message: string,
  questions: readonly ArgumentQuestion[],
): NoticeOfServer {
  const asks = t('The server “{0}” asks: “{1}”', plainMessage(server), quote(message));
  const warning = questions.length === 0 ? '' : ` ${t('Do not enter passwords or keys.')}`;
  return { text: `${asks}${warning}`, isWhole: message.length <= MAX_QUOTED_CHARS };
}

export function noticeOfUrl(server: string, message: string, url: URL): NoticeOfServer {
  const text = t(
    'The server “{0}” wants you to open {1} in your browser. It says: “{2}”',
    plainMessage(server),
    plainMessage(url.href, MAX_URL_CHARS),
    quote(message),
  );
  return { text, isWhole: url.href.length <= MAX_URL_CHARS };
}

/** Without quotation marks that would end the quotation early. */
function quote(message: string): string {
  return plainMessage(message, MAX_QUOTED_CHARS).replace(/[“”„]/g, '"');
}

export function describeForm(message: string, questions: readonly ArgumentQuestion[]): string {
  if (questions.length === 0) return quoteServer(message);
  const named = questions.slice(0, MAX_FIELDS_NAMED).map(({ title }) => plainMessage(title));
  const more = questions.length - named.length;
  const fields = more > 0 ? t('{0}, and {1} more', named.join(', '), more) : named.join(', ');
  const warning = t(
    'You can review all answers before they are sent. Do not enter passwords or keys: servers must not ask for them in a form.',
  );
  return [t('Requested fields: {0}.', fields), warning, quoteServer(message)].join('\n\n');
}

/** The host is first and has a line of its own, because the server's text and the rest of a URL can imitate one. */
export function describeUrl(message: string, url: URL): string {
  return [
    `${t('Host:')}\n${url.host}`,
    `${t('Full address:')}\n${url.href}`,
    t('Nothing has been opened yet. Filechat does not see what you enter on {0}.', url.host),
    quoteServer(message),
  ].join('\n\n');
}

export function describeAnswer(question: ArgumentQuestion, value: unknown): string {
  if (value === undefined) return t('(omitted)');
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

/** Marks the text as the server's, so that it cannot be mistaken for ours. */
function quoteServer(message: string): string {
  return `${t('Message from the server:')}\n${quoteLines(message, MAX_SHOWN_CHARS)}`;
}
