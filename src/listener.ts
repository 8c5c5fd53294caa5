import { appendCall, endRun, newCallId } from './chat/edits/append.ts';
import type { WrittenCall } from './chat/format/calls.ts';
import { interruptedReply, type NextAction, nextAction, pendingCalls } from './chat/format/nextAction.ts';
import { parseChat, turnBody } from './chat/format/parse.ts';
import { type ToolRunParts, ToolRuns } from './loop/calls.ts';
import { ChatEdits, failed, STOPPED } from './loop/chatEdits.ts';
import { compact } from './loop/compaction.ts';
import { type InsertionParts, insertPrompt, insertResource, type PromptRequest } from './loop/insertions.ts';
import { Replies, type ReplyParts, type ReplyProgress } from './loop/replies.ts';
import type { ChatDocument, RunOutcome } from './ports/document.ts';
import type { ChatRules, Conversation } from './ports/models.ts';
import type { ResourceName } from './ports/servers.ts';
import type { ToolCall, ToolName } from './ports/tools.ts';

export type { PromptRequest, ReplyProgress };

export interface ListenerParts extends ToolRunParts, Omit<ReplyParts, 'conversation'> {
  readonly document: ChatDocument;
  /** Without it tools can be called, and no model be asked. */
  readonly conversation?: Conversation | undefined;
  /** Asked when a run has taken as many steps as it may. */
  readonly mayGoOn?: ((steps: number) => Promise<boolean>) | undefined;
  /** Without it nothing can be read from servers but the results of tools. */
  readonly servers?: InsertionParts['servers'] | undefined;
  /** The user wants to see every result before the model does. */
  readonly reviewResults?: (() => boolean) | undefined;
}

export interface ToolRequest extends ToolName {
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * One document's turn loop: does what the file asks for next and writes what came, in order, into the
 * document. It acts only when told to; opening or editing a file wakes nothing.
 */
export class ChatListener {
  readonly #parts: ListenerParts;
  readonly #document: ChatEdits;
  readonly #tools: ToolRuns;
  readonly #replies: Replies | undefined;
  #running: AbortController | undefined;

  constructor(parts: ListenerParts) {
    const { document, conversation, log } = parts;
    this.#parts = parts;
    this.#document = new ChatEdits(document, log);
    this.#tools = new ToolRuns(parts, this.#document);
    this.#replies = conversation && new Replies({ ...parts, conversation }, this.#document);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Stops at once: the request is given up, the tool is told; what came before stays in the document. */
  stop(): void {
    this.#running?.abort(new Error('Stopped.'));
  }

  /** Does what the file asks for, step by step, until it is the user's turn again. */
  run(): Promise<RunOutcome> {
    return this.#exclusively((signal) => this.#loop(signal));
  }

  /**
   * Continues a reply that was cut, and from there as `run` does. A message that the user has begun below the reply
   * stays there and is not sent.
   */
  resume(): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      if (!interruptedReply(parseChat(this.#document.text()).turns))
        return failed('No reply of this chat was cut, so there is nothing to resume.');
      return this.#converse({ rules: await this.#rules(), signal, done: [], opening: 'resume' });
    });
  }

  /** Writes a summary of the chat as a turn, from which on it is sent. */
  compact(): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      const { conversation } = this.#parts;
      if (!conversation) return failed(NO_MODEL);
      const outcome = await compact({ ...this.#parts, conversation }, this.#document, signal);
      return outcome.ok ? this.#finish([outcome]) : outcome;
    });
  }

  /** Asks, writes the call into the document, and runs it. A call that is declined is not written. */
  callTool(request: ToolRequest): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      const verdict = await this.#tools.judge({ ...request, id: '' }, await this.#rules(), signal);
      if (signal.aborted || verdict.kind === 'cancel') return STOPPED;
      if (verdict.kind === 'refuse') return failed(verdict.reason);
      let call: ToolCall | undefined;
      const written = await this.#document.edit((text) => {
        call = { ...request, id: newCallId(text) };
        return appendCall(text, call);
      });
      if (!written || !call) return failed(this.#document.whyNotWritten());
      if (verdict.kind === 'edit') return { ...STOPPED, edit: call.id };
      return this.#finish([await this.#tools.answer(call, verdict.prepared, signal)]);
    });
  }

  /** Reads a resource into the user's turn. */
  readResource(resource: ResourceName): Promise<RunOutcome> {
    return this.#exclusively((signal) => insertResource(resource, this.#insertion(), signal));
  }

  /** Writes the messages of a prompt as turns. */
  insertPrompt(request: PromptRequest): Promise<RunOutcome> {
    return this.#exclusively((signal) => insertPrompt(request, this.#insertion(), signal));
  }

  #insertion(): InsertionParts {
    const { servers, ...parts } = this.#parts;
    if (!servers) throw new Error('There are no servers to read from.');
    return { ...parts, servers, document: this.#document };
  }

  async #exclusively(work: (signal: AbortSignal) => Promise<RunOutcome>): Promise<RunOutcome> {
    if (this.#running) return failed('This chat is running already. Stop it first, or wait.');
    const running = new AbortController();
    this.#running = running;
    try {
      return await work(running.signal);
    } finally {
      this.#running = undefined;
    }
  }

  async #loop(signal: AbortSignal): Promise<RunOutcome> {
    const rules = await this.#rules();
    const settled = await this.#tools.settleSent();
    const first = this.#next();
    if (settled.some(endsRun)) return this.#finish(settled);
    if (first.kind === 'wait') return settled[0] ? this.#finish(settled) : failed(first.reason);
    if (first.kind !== 'runTools') {
      return this.#converse({ rules, signal, done: settled.map(forgiven), opening: first.kind });
    }
    const isUsers = isFromUser(this.#document.text(), first.calls);
    const results = [...settled, ...(await this.#tools.runPending(rules, signal))];
    if (isUsers || !this.#goesOn(results, signal)) return this.#finish(results);
    return this.#converse({ rules, signal, done: results.map(forgiven), opening: 'reply' });
  }

  /** A reply, the calls that it makes, a reply to their results, and so on. */
  async #converse({ rules, signal, done, opening }: Conversing): Promise<RunOutcome> {
    const outcomes = [...done];
    const maxSteps = rules.maxSteps ?? Number.POSITIVE_INFINITY;
    for (let steps = 1; ; steps += 1) {
      const reply = await this.#replies?.write(steps === 1 ? opening : 'reply', signal);
      outcomes.push(reply ?? failed(NO_MODEL));
      const calls = waitingCalls(this.#document.text());
      if (!reply?.ok || calls.length === 0) return this.#finish(outcomes);
      if (steps % maxSteps === 0 && !(await this.#parts.mayGoOn?.(steps))) {
        return this.#finish([...outcomes, failed(tooManySteps(steps))]);
      }
      const results = await this.#tools.runPending(rules, signal, calls);
      // What the model's own tools could not do is the model's to deal with.
      outcomes.push(...results.map(forgiven));
      if (!this.#goesOn(results, signal)) {
        return this.#finish(signal.aborted ? [...outcomes, STOPPED] : outcomes);
      }
    }
  }

  /** Whether the model should see results at once: nobody stopped it, and the user has not begun to speak. */
  #goesOn(results: readonly RunOutcome[], signal: AbortSignal): boolean {
    if (signal.aborted || results.length === 0 || results.some(endsRun)) return false;
    return !this.#parts.reviewResults?.() && endsWithResult(this.#document.text());
  }

  #next(): NextAction {
    return nextAction(this.#document.text());
  }

  async #rules(): Promise<ChatRules> {
    return (await this.#parts.conversation?.rules(this.#document.text())) ?? { allows: () => true };
  }

  async #finish(outcomes: readonly RunOutcome[]): Promise<RunOutcome> {
    // A document that lost its reply is left alone, and a call that is to be edited is what the user writes next.
    const isUntouched = outcomes.some(({ lost, edit }) => lost === true || edit !== undefined);
    if (!isUntouched) await this.#document.edit(endRun, { joinUndo: true });
    const failure = outcomes.find(endsRun) ?? outcomes.find((outcome) => !outcome.ok);
    return { ...(failure ?? { ok: true }), assets: outcomes.flatMap((outcome) => outcome.assets) };
  }
}

const NO_MODEL = 'This turn asks for a reply, and there is no model to ask.';

function tooManySteps(steps: number): string {
  return `The model has taken ${steps} ${steps === 1 ? 'step' : 'steps'}, which is the limit. Run again to let it go on.`;
}

interface Conversing {
  readonly rules: ChatRules;
  readonly signal: AbortSignal;
  /** What was done before the first reply. */
  readonly done: readonly RunOutcome[];
  /** What the first reply is. */
  readonly opening: 'reply' | 'resume';
}

/** The calls of the last reply that nobody has answered, also when the user writes below it already. */
function waitingCalls(text: string): readonly string[] {
  const { turns } = parseChat(text);
  const at = turns.findLastIndex((turn) => turn.role === 'assistant');
  return pendingCalls(turns, at).flatMap(({ id }) => (id === undefined ? [] : [id]));
}

function endsWithResult(text: string): boolean {
  const last = parseChat(text).turns.findLast(
    (turn) => turn.role !== 'user' || turnBody(text, turn).trim() !== '',
  );
  return last?.role === 'tool';
}

/** A person who calls a tool has not asked for a reply to it. */
function isFromUser(text: string, calls: readonly WrittenCall[]): boolean {
  const at = calls[0]?.start ?? 0;
  return parseChat(text).turns.some(({ role, start, end }) => role === 'user' && start <= at && at < end);
}

function forgiven(outcome: RunOutcome): RunOutcome {
  return endsRun(outcome) ? outcome : { ok: true, assets: outcome.assets };
}

function endsRun({ cancelled, lost, resumable }: RunOutcome): boolean {
  return cancelled === true || lost === true || resumable === true;
}
