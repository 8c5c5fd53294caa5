import { messageOf } from '../base/errors.ts';
import { foldLines } from '../base/lines.ts';
import { renderToolName } from '../chat/format/callInfo.ts';
import { restoreInvisible } from '../chat/format/escapeMarkers.ts';
import { strictest } from '../chat/format/frontMatter.ts';
import { checkElicitationUrl } from '../mcp/requests/elicitation.ts';
import { PendingRequestLimit } from '../mcp/requests/requestLimit.ts';
import { type ArgumentQuestion, checkAnswer, printAnswer } from '../mcp/schema/answer.ts';
import { argumentQuestions, withPatterns } from '../mcp/schema/arguments.ts';
import { answerSampling } from '../model/sampling/answerSampling.ts';
import { renderAnswer, renderSampling } from '../model/sampling/text.ts';
import type { ChatModel } from '../ports/models.ts';
import type { Elicitation, ElicitationAnswer, Root, ServerRequests } from '../ports/servers.ts';
import type { Approval, Consent, ConsentAnswer, ToolCall } from '../ports/tools.ts';
import type { CliContext, TerminalAsk } from './commandLine.ts';

interface TerminalRequestsOptions {
  readonly approve: Approval;
  /** The model of a chat, by its path. Without it, sampling is not offered to servers. */
  readonly modelFor?: ((chat: string | undefined) => Promise<ChatModel>) | undefined;
  readonly roots: readonly Root[];
  /** Writes lines for the user, with invisible characters shown. */
  readonly err: (text: string) => void;
  /** Undefined without a terminal. */
  readonly ask: TerminalAsk | undefined;
}

/** Answers requests from servers on the terminal; without a terminal, only those that need no user. */
export function terminalRequests(options: TerminalRequestsOptions): ServerRequests {
  const { approve, modelFor, roots, err, ask } = options;
  const terminal = ask && new Terminal(err, ask);
  const limit = new PendingRequestLimit();
  const sample: NonNullable<ServerRequests['sample']> = async (request, { server, chats }, signal) => {
    if (!modelFor) throw new Error(DECLINED);
    const model = await modelFor(chats[0]);
    if (approve === 'auto') return answerSampling(request, model, signal);
    const question = `The server ${server} requests a completion from your model ${model.name}. Send this?`;
    await terminal?.confirmText(question, renderSampling(request), signal);
    const answer = await answerSampling(request, model, signal);
    await terminal?.confirmText(
      `The reply of the model. Send it to the server ${server}?`,
      renderAnswer(answer),
      signal,
    );
    return answer;
  };
  return {
    ...(terminal
      ? {
          elicit: (request, { server }, signal) =>
            limit.run(
              server,
              () => terminal.elicit(request, server, signal),
              ({ action }) => action !== 'accept',
            ),
          // The user has confirmed the visit with Enter.
          visited: async () => true,
        }
      : {}),
    ...(modelFor && (terminal || approve === 'auto')
      ? { sample: (request, by, signal) => limit.run(by.server, () => sample(request, by, signal)) }
      : {}),
    roots: async () => roots,
  };
}

const DECLINED = 'The user declined.';

/**
 * Answers one request of a server at a time. Its text is part of the question: written alone, it could be below another
 * question that is open.
 */
class Terminal {
  readonly #err: (text: string) => void;
  readonly #ask: TerminalAsk;
  #last: Promise<unknown> = Promise.resolve();

  constructor(err: (text: string) => void, ask: TerminalAsk) {
    this.#err = err;
    this.#ask = ask;
  }

  async elicit(request: Elicitation, server: string, signal: AbortSignal): Promise<ElicitationAnswer> {
    return this.#inTurn(() =>
      request.kind === 'form' ? this.#askForm(request, server, signal) : this.#visit(request, server, signal),
    );
  }

  /** Rejects when the user declines. */
  async confirmText(question: string, text: string, signal: AbortSignal): Promise<void> {
    // `ask` shows invisible characters again.
    const quoted = quote(restoreInvisible(text));
    const answer = await this.#inTurn(() => this.#ask(`${question}\n${quoted}\n[y]es, [n]o? `, signal));
    signal.throwIfAborted();
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new Error(DECLINED);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #askForm(
    { message, schema }: Extract<Elicitation, { kind: 'form' }>,
    server: string,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    const questions = await withPatterns(argumentQuestions(schema));
    const intro = `The server ${server} asks:\n${quote(message)}\n${FORM_HINT}\n`;
    if (questions.length === 0)
      return this.#confirm(`${intro}Press Enter to accept, or type - to decline: `, signal);
    const content: [string, unknown][] = [];
    for (const [at, question] of questions.entries()) {
      const answer = await this.#askField(question, at === 0 ? intro : '', signal);
      if (answer === 'decline' || answer === 'cancel') return { action: answer };
      content.push([question.name, answer.value]);
    }
    return { action: 'accept', content: Object.fromEntries(content) };
  }

  /** Asks again until the answer is valid. */
  async #askField(
    question: ArgumentQuestion,
    intro: string,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown } | 'decline' | 'cancel'> {
    for (let before = intro; ; ) {
      const text = await this.#ask(`${before}${describe(question)}`, signal);
      if (text === undefined || signal.aborted) return 'cancel';
      if (text.trim() === '-') return 'decline';
      if (text === '' && question.default !== undefined) return { value: question.default };
      const answer = checkAnswer(question, text);
      if (answer.ok) return { value: answer.value };
      before = `${answer.message}\n`;
    }
  }

  async #visit(
    { message, url }: Extract<Elicitation, { kind: 'url' }>,
    server: string,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    let page: ReturnType<typeof checkElicitationUrl>;
    try {
      page = checkElicitationUrl(url);
    } catch (error) {
      this.#err(`The server ${server} asked you to open an address, which was declined. ${messageOf(error)}`);
      return { action: 'decline' };
    }
    return this.#confirm(
      `The server ${server} asks you to open a page on ${page.host}:\n${quote(message)}\nOpen this address in a browser: ${page.href}\nPress Enter when you are done, or type - to decline: `,
      signal,
    );
  }

  async #confirm(question: string, signal: AbortSignal): Promise<ElicitationAnswer> {
    const text = await this.#ask(question, signal);
    if (text === undefined || signal.aborted) return { action: 'cancel' };
    return { action: text.trim() === '-' ? 'decline' : 'accept' };
  }
}

const FORM_HINT =
  'Press Enter for the value in brackets, or type - to decline. Do not enter passwords or keys: servers must not ask for them in a form.';
const MAX_SHOWN_CHARS = 300;
const MAX_QUOTED_CHARS = 20_000;
const MAX_QUOTED_LINES = 100;

/** One line with the field's name, its choices and its default. All of them are the server's words. */
function describe(question: ArgumentQuestion): string {
  const { title, description, required } = question;
  const about = description ? `: ${description}` : '';
  const name = cut(`${title}${required ? '' : ' (optional)'}${about}`);
  const choices = choicesOf(question);
  const preset = question.default === undefined ? '' : ` [${printAnswer(question, question.default)}]`;
  const shown = choices === '' ? '' : ` {${cut(choices)}}`;
  return `${name}${shown}${cut(preset)}`.replace(/\s+/g, ' ').concat(' > ');
}

function choicesOf(question: ArgumentQuestion): string {
  if (question.kind === 'yesNo') return 'yes, no';
  if (question.kind !== 'choice' && question.kind !== 'choices') return '';
  const names = question.choices.map(({ text, label }) => (text === label ? text : `${text} = ${label}`));
  return `${question.kind === 'choices' ? 'some of: ' : ''}${names.join(', ')}`;
}

function cut(text: string, maxChars = MAX_SHOWN_CHARS): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}

/** A bar before each line tells a server's text from Filechat's. It cannot push Filechat's off the screen. */
function quote(text: string): string {
  const { lines, more } = foldLines(cut(text, MAX_QUOTED_CHARS), MAX_QUOTED_LINES);
  const rest = more > 0 ? [`… and ${more} more lines`] : [];
  return [...lines, ...rest].map((line) => `  | ${line}`).join('\n');
}

/** Naming a tool on the command line is consent. */
export const CONSENT_GIVEN: Consent = { mayCall: async () => ({ kind: 'allow', by: 'commandLine' }) };

/** Asks on the terminal. Without one, only calls that the command line allows can run. */
export function terminalConsent(
  allowed: Approval,
  { ask, signal }: Pick<CliContext, 'ask' | 'signal'>,
): Consent {
  return {
    mayCall: async (call, tool, { approve, notes = [] } = {}) => {
      const approval = strictest(allowed, approve);
      // Read-only is the claim of a server, and says nothing about what it does with a file.
      const isReading = approval === 'auto-readonly' && tool.readOnly && notes.length === 0;
      if (approval === 'auto' || isReading) return { kind: 'allow', by: 'commandLine' };
      if (!ask) throw new Error(approval === allowed ? NO_TERMINAL : CHAT_ASKS);
      const answer = await ask(describeCall(call, notes), signal);
      if (signal.aborted) return { kind: 'cancel' };
      if (answer === undefined) throw new Error(NO_ANSWER);
      return readAnswer(answer.trim());
    },
  };
}

const NO_TERMINAL =
  'A tool call needs your permission, but there is no terminal to ask on. Use --approve auto to allow all calls of this chat.';

const CHAT_ASKS =
  'A tool call needs your permission because of “approve” in the chat, but there is no terminal to ask on. Change “approve” in the chat, or run it in a terminal.';

const NO_ANSWER = 'The question was not answered. The call is still pending in the chat.';

function describeCall(call: ToolCall, notes: readonly string[]): string {
  const json = JSON.stringify(call.arguments, undefined, 2);
  const files =
    notes.length === 0 ? '' : `Files that the tool gets:\n${notes.map((note) => `  ${note}\n`).join('')}`;
  const name = renderToolName(call);
  // The name is also at the end: long arguments push the first line off the screen.
  return `${name} is called with these arguments:\n${json}\n${files}Allow the call to ${name}? [y]es, [n]o, “n REASON” to tell the model why, [s]top: `;
}

function readAnswer(answer: string): ConsentAnswer {
  if (/^y(es)?$/i.test(answer)) return { kind: 'allow', by: 'asked' };
  const no = /^no?(?:[ ,:]+(.*))?$/i.exec(answer);
  if (!no) return { kind: 'cancel' };
  return no[1] ? { kind: 'deny', reason: no[1] } : { kind: 'deny' };
}
