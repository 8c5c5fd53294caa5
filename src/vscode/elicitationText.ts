import { showInvisible } from '../chat/escape.ts';
import { printAnswer } from '../mcp/answer.ts';
import type { ArgumentQuestion } from '../mcp/question.ts';
import { plainMessage } from './plainMessage.ts';

/** A dialog that is longer than this cannot be read any more on a small screen. */
const MAX_SHOWN_CHARS = 2_000;
const MAX_FIELDS_NAMED = 20;

/** The server's words, and which fields will be asked for. */
export function describeForm(message: string, questions: readonly ArgumentQuestion[]): string {
  const named = questions.slice(0, MAX_FIELDS_NAMED).map(({ title }) => plainMessage(title));
  const more = questions.length > named.length ? `, and ${questions.length - named.length} more` : '';
  const fields =
    questions.length === 0 ? '' : `\n\nIt asks for: ${named.join(', ')}${more}.\n\n${NO_SECRETS}`;
  return `${inItsWords(message)}${fields}`;
}

const NO_SECRETS =
  'Nothing is sent before you have seen all your answers. Give no passwords and no keys: a server must not ask for them in this way.';

/** The host has a line of its own, because the rest of an address can be made to look like one. */
export function describeUrl(message: string, url: URL): string {
  return `${inItsWords(message)}\n\nHost:\n${url.host}\n\nWhole address:\n${url.href}\n\nNothing has been opened yet. What you do there is between you and ${url.host}.`;
}

/** An answer in a list of answers. */
export function describeAnswer(question: ArgumentQuestion, value: unknown): string {
  if (value === undefined) return '(left out)';
  if (question.kind === 'yesNo') return value === true ? 'Yes' : 'No';
  if (question.kind === 'choice' || question.kind === 'choices') {
    const chosen = question.choices.filter((choice) =>
      question.kind === 'choices' && Array.isArray(value)
        ? value.includes(choice.value)
        : choice.value === value,
    );
    return plainMessage(chosen.map(({ label }) => label).join(', ') || '(none)');
  }
  return plainMessage(printAnswer(question, value));
}

/** What a server says must not be taken for our own words. */
function inItsWords(message: string): string {
  const text = showInvisible(message).trim();
  const cut = text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…`;
  return `It says:\n${cut}`;
}
