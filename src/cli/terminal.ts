import { createInterface } from 'node:readline/promises';
import { deferred } from '../base/async.ts';
import { renderToolName } from '../chat/format/calls.ts';
import { restoreInvisible, showInvisible } from '../chat/format/escape.ts';
import { strictest } from '../chat/format/settings.ts';
import { checkElicitationUrl } from '../mcp/requests/elicitation.ts';
import { checkAnswer, printAnswer } from '../mcp/schema/answer.ts';
import { argumentQuestions } from '../mcp/schema/arguments.ts';
import type { ArgumentQuestion } from '../mcp/schema/question.ts';
import { answerSampling } from '../model/sampling/sampling.ts';
import { renderAnswer, renderSampling } from '../model/sampling/text.ts';
import type { ChatModel } from '../ports/models.ts';
import type {
  Elicitation,
  ElicitationAnswer,
  Root,
  SamplingAnswer,
  ServerRequests,
} from '../ports/requests.ts';
import type { AboutCall, Approval, Consent, ConsentAnswer, ToolCall, ToolInfo } from '../ports/tools.ts';

export interface TerminalRequestsOptions {
  readonly approve: Approval;
  /** The model of a chat, by its path. Without it, servers have no model to ask. */
  readonly modelFor?: ((chat: string | undefined) => Promise<ChatModel>) | undefined;
  readonly roots: readonly Root[];
  /** Writes lines for the person, with what cannot be seen made visible. */
  readonly err: (text: string) => void;
  /** Asks on the terminal, if there is one. */
  readonly ask?: TerminalAsk | undefined;
}

/** Resolves to nothing when the user or the signal ends it without an answer. */
export type TerminalAsk = (question: string, signal: AbortSignal) => Promise<string | undefined>;

/** What servers may ask of the person at the terminal; without one, only what needs nobody. */
export function terminalRequests(options: TerminalRequestsOptions): ServerRequests {
  const { approve, modelFor, roots, ask = process.stdin.isTTY ? askOnTerminal : undefined } = options;
  const terminal = ask && new Terminal(options.err, ask);
  const sample: ServerRequests['sample'] = async (request, { server, chats }, signal) => {
    if (!modelFor) throw new Error(DECLINED);
    const model = await modelFor(chats[0]);
    if (approve === 'auto') return answerSampling(request, model, signal);
    const question = `The server ${server} wants to ask your model ${model.name}:`;
    await terminal?.agree(question, renderSampling(request), signal);
    const answer: SamplingAnswer = await answerSampling(request, model, signal);
    await terminal?.agree(`Send this answer to the server ${server}?`, renderAnswer(answer), signal);
    return answer;
  };
  return {
    ...(terminal
      ? {
          elicit: (request, { server }, signal) => terminal.elicit(request, server, signal),
          // Enter was said when it was done.
          visited: async () => true,
        }
      : {}),
    ...(modelFor && (terminal || approve === 'auto') ? { sample } : {}),
    roots: async () => roots,
  };
}

const DECLINED = 'The user declined.';

/** Asks one thing after the other, whichever server asks. */
class Terminal {
  readonly #err: (text: string) => void;
  readonly #ask: TerminalAsk;
  #last: Promise<unknown> = Promise.resolve();

  constructor(err: (text: string) => void, ask: TerminalAsk) {
    this.#err = err;
    this.#ask = (question, signal) => ask(showInvisible(question), signal);
  }

  async elicit(request: Elicitation, server: string, signal: AbortSignal): Promise<ElicitationAnswer> {
    return this.#inTurn(() =>
      request.kind === 'form' ? this.#askForm(request, server, signal) : this.#visit(request, server, signal),
    );
  }

  /** Rejects when the user does not agree. */
  async agree(question: string, text: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#inTurn(() => {
      // It has been made visible already, and `err` would do so again.
      this.#err(`${question}\n${quote(restoreInvisible(text))}`);
      return this.#ask('[y]es, [n]o? ', signal);
    });
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
    const questions = argumentQuestions(schema);
    this.#err(`The server ${server} asks:\n${quote(message)}\n${FORM_HINT}`);
    if (questions.length === 0) return this.#confirm('Enter agrees, - declines: ', signal);
    const content: [string, unknown][] = [];
    for (const question of questions) {
      const answer = await this.#askField(question, signal);
      if (answer === 'decline' || answer === 'cancel') return { action: answer };
      content.push([question.name, answer.value]);
    }
    return { action: 'accept', content: Object.fromEntries(content) };
  }

  /** Asks again until the answer is one that the form allows. */
  async #askField(
    question: ArgumentQuestion,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown } | 'decline' | 'cancel'> {
    for (;;) {
      const text = await this.#ask(describe(question), signal);
      if (text === undefined || signal.aborted) return 'cancel';
      if (text.trim() === '-') return 'decline';
      if (text === '' && question.default !== undefined) return { value: question.default };
      const answer = checkAnswer(question, text);
      if (answer.ok) return { value: answer.value };
      this.#err(answer.message);
    }
  }

  async #visit(
    { message, url }: Extract<Elicitation, { kind: 'url' }>,
    server: string,
    signal: AbortSignal,
  ): Promise<ElicitationAnswer> {
    try {
      const { host, href } = checkElicitationUrl(url);
      this.#err(
        `The server ${server} wants you to visit ${host}:\n${quote(message)}\nOpen this yourself: ${href}`,
      );
    } catch (error) {
      this.#err(`The server ${server} wanted you to visit an address. ${(error as Error).message}`);
      return { action: 'decline' };
    }
    return this.#confirm('Enter when you are done, - declines: ', signal);
  }

  async #confirm(question: string, signal: AbortSignal): Promise<ElicitationAnswer> {
    const text = await this.#ask(question, signal);
    if (text === undefined || signal.aborted) return { action: 'cancel' };
    return { action: text.trim() === '-' ? 'decline' : 'accept' };
  }
}

const FORM_HINT =
  'Enter takes what is in brackets, - declines. Give no passwords and no keys: a server must not ask for them so.';
const MAX_SHOWN_CHARS = 300;
const MAX_QUOTED_CHARS = 20_000;

/** One line for each field: what it is, what it may be, and what an empty answer means. */
function describe(question: ArgumentQuestion): string {
  const { title, description, required } = question;
  const about = description ? `: ${description}` : '';
  const name = `${title}${required ? '' : ' (optional)'}${about}`.replace(/\s+/g, ' ');
  const choices = choicesOf(question);
  const preset = question.default === undefined ? '' : ` [${printAnswer(question, question.default)}]`;
  return `${cut(name)}${choices === '' ? '' : ` {${cut(choices)}}`}${cut(preset)} > `;
}

function choicesOf(question: ArgumentQuestion): string {
  if (question.kind === 'yesNo') return 'yes, no';
  if (question.kind !== 'choice' && question.kind !== 'choices') return '';
  const names = question.choices.map(({ text, label }) => (text === label ? text : `${text} = ${label}`));
  return `${question.kind === 'choices' ? 'some of: ' : ''}${names.join(', ')}`;
}

function cut(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…`;
}

/** Foreign words can be told from ours by the bar before each line. */
function quote(text: string): string {
  const shown = text.length <= MAX_QUOTED_CHARS ? text : `${text.slice(0, MAX_QUOTED_CHARS).toWellFormed()}…`;
  return shown.trimEnd().replace(/^/gm, '  | ');
}

async function askOnTerminal(question: string, signal: AbortSignal): Promise<string | undefined> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const { promise: closed, resolve } = deferred<undefined>();
  // Ctrl+C and Ctrl+D close it without an answer.
  terminal.once('close', () => resolve(undefined));
  try {
    return await Promise.race([terminal.question(question, { signal }).catch(() => undefined), closed]);
  } finally {
    terminal.close();
  }
}

/** Whoever types the name of a tool on the command line has agreed to it. */
export const CONSENT_GIVEN: Consent = { mayCall: async () => ({ kind: 'allow', by: 'commandLine' }) };

/** Asks on the terminal; where there is none, nothing runs that the command line did not allow. */
export class TerminalConsent implements Consent {
  readonly #approval: Approval;

  constructor(approval: Approval) {
    this.#approval = approval;
  }

  async mayCall(call: ToolCall, tool: ToolInfo, about: AboutCall = {}): Promise<ConsentAnswer> {
    const approval = strictest(this.#approval, about.approve);
    if (approval === 'auto') return { kind: 'allow', by: 'commandLine' };
    if (approval === 'auto-readonly' && tool.readOnly) return { kind: 'allow', by: 'commandLine' };
    if (!process.stdin.isTTY) throw new Error(approval === this.#approval ? NO_TERMINAL : CHAT_ASKS);
    return ask(call, about.notes ?? []);
  }
}

const NO_TERMINAL =
  'A tool call needs your consent, and there is no terminal to ask on. Pass --approve auto to allow all calls of this chat.';

const CHAT_ASKS =
  'A tool call needs your consent because of “approve” in the chat, and there is no terminal to ask on.';

async function ask(call: ToolCall, notes: readonly string[]): Promise<ConsentAnswer> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const json = showInvisible(JSON.stringify(call.arguments, undefined, 2));
    const files =
      notes.length === 0 ? '' : `and give it these files:\n${notes.map((note) => `  ${note}\n`).join('')}`;
    const answer = await terminal.question(
      `Call ${renderToolName(call)} with\n${json}\n${files}[y]es, [n]o, n and a reason for the model, [s]top? `,
    );
    return readAnswer(answer.trim());
  } finally {
    terminal.close();
  }
}

function readAnswer(answer: string): ConsentAnswer {
  if (/^y(es)?$/i.test(answer)) return { kind: 'allow', by: 'asked' };
  const no = /^(?:no?)(?:[ ,:]+(.*))?$/i.exec(answer);
  if (!no) return { kind: 'cancel' };
  return no[1] ? { kind: 'deny', reason: no[1] } : { kind: 'deny' };
}
