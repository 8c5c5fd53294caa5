import { untilAborted } from './base/async.ts';
import { appendCall, endRun, newCallId } from './chat/edits/append.ts';
import type { WrittenCall } from './chat/format/callInfo.ts';
import { interruptedReply, nextAction, pendingCalls } from './chat/format/nextAction.ts';
import { parseChat, turnBody } from './chat/format/parse.ts';
import { compact } from './loop/compaction.ts';
import { explainFailedEdit, failed, logFailures, STOPPED } from './loop/document.ts';
import { type InsertionDeps, insertPrompt, insertResource, type PromptRequest } from './loop/insertions.ts';
import { nameServers, runPendingCalls, settleSentCalls } from './loop/pendingCalls.ts';
import { findRefusal, type ToolCallDeps, type ToolRun } from './loop/permission.ts';
import { type ReplyDeps, type ReplyProgress, writeReply } from './loop/replies.ts';
import type { RunOutcome } from './ports/document.ts';
import type { ChatRules, Conversation } from './ports/models.ts';
import type { ResourceName } from './ports/servers.ts';
import type { ToolName } from './ports/tools.ts';

export type { PromptRequest, ReplyProgress };

export interface ListenerDeps extends ToolCallDeps, Omit<ReplyDeps, 'conversation'> {
  /** Without it, tools can be called, but there is no model. */
  readonly conversation?: Conversation | undefined;
  /** Asked when a run reaches the limit of steps. */
  readonly mayContinue?: ((steps: number, signal: AbortSignal) => Promise<boolean>) | undefined;
  /** Needed for resources and prompts. */
  readonly servers?: InsertionDeps['servers'] | undefined;
  readonly insertedBy?: InsertionDeps['insertedBy'];
  /** Whether the run stops after each result, before the model sees it. */
  readonly reviewResults?: (() => boolean) | undefined;
}

export interface ToolRequest extends ToolName {
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The turn loop of one document. It acts only when one of its methods is called, never because of an edit. */
export class ChatListener {
  readonly #deps: ListenerDeps;
  #running: AbortController | undefined;

  constructor(deps: ListenerDeps) {
    this.#deps = { ...deps, document: logFailures(deps.document, deps.log) };
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Aborts the request and the tool calls; text and results that have arrived stay in the document. */
  stop(): void {
    this.#running?.abort(new Error('Stopped.'));
  }

  /** Runs the next actions of the file until it is the user's turn again. */
  run(): Promise<RunOutcome> {
    return this.#exclusively((signal) => this.#loop(signal));
  }

  /** Continues an interrupted reply, then as `run` does. A message that the user has begun below is not sent. */
  resume(): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      if (!interruptedReply(parseChat(this.#text()).turns))
        return failed('There is no interrupted reply to resume.');
      return this.#converse({ rules: await this.#rules(), signal, done: [], first: 'resume' });
    });
  }

  /** Writes a summary as a turn. Turns above it are no longer sent. */
  compact(): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      const { conversation } = this.#deps;
      if (!conversation) return failed(NO_MODEL);
      const outcome = await compact({ ...this.#deps, conversation }, signal);
      return outcome.ok ? this.#finish([outcome]) : outcome;
    });
  }

  /** Writes the call into the document, asks for permission there, and runs it. An impossible call is not written. */
  callTool(request: ToolRequest): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      const run = { ...this.#deps, rules: await this.#rules(), signal };
      const refusal = await findRefusal(run, { ...request, id: '' });
      if (signal.aborted) return STOPPED;
      if (refusal) return { ...failed(refusal.reason), ...refusal.cause };
      let id = '';
      const isWritten = await run.document.edit((text) => {
        id = newCallId(text);
        return appendCall(text, { ...request, id });
      });
      if (!isWritten) return failed(explainFailedEdit(run.document));
      return this.#finish(await runPendingCalls(run, [id]));
    });
  }

  readResource(resource: ResourceName): Promise<RunOutcome> {
    return this.#exclusively((signal) => insertResource(resource, this.#insertionDeps(), signal));
  }

  insertPrompt(request: PromptRequest): Promise<RunOutcome> {
    return this.#exclusively((signal) => insertPrompt(request, this.#insertionDeps(), signal));
  }

  #insertionDeps(): InsertionDeps {
    const { servers, ...deps } = this.#deps;
    if (!servers) throw new Error('No MCP servers are available.');
    return { ...deps, servers };
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
    const settled = await settleSentCalls(this.#deps);
    await nameServers(this.#toolRun(rules, signal));
    const next = nextAction(this.#text());
    if (settled.some(endsRun)) return this.#finish(settled);
    if (next.kind === 'wait') return settled[0] ? this.#finish(settled) : failed(next.reason);
    if (next.kind !== 'runTools') {
      return this.#converse({ rules, signal, done: settled.map(ignoreToolErrors), first: next.kind });
    }
    const isUsers = isInUserTurn(this.#text(), next.calls);
    const results = [...settled, ...(await runPendingCalls(this.#toolRun(rules, signal)))];
    // A user who calls a tool has not asked for a reply to it.
    if (isUsers || !this.#continues(results, signal)) return this.#finish(results);
    return this.#converse({ rules, signal, done: results.map(ignoreToolErrors), first: 'reply' });
  }

  /** Alternates between replies and the tool calls in them. */
  async #converse({ rules, signal, done, first }: ConverseOptions): Promise<RunOutcome> {
    const outcomes = [...done];
    const maxSteps = rules.maxSteps ?? Number.POSITIVE_INFINITY;
    for (let steps = 1; ; steps += 1) {
      const reply = await this.#reply(steps === 1 ? first : 'reply', signal);
      outcomes.push(reply);
      const calls = pendingIds(this.#text());
      if (!reply.ok || calls.length === 0) return this.#finish(outcomes);
      if (steps % maxSteps === 0 && !(await this.#mayContinue(steps, signal))) {
        return this.#finish([...outcomes, signal.aborted ? STOPPED : failed(tooManySteps(steps))]);
      }
      const results = await runPendingCalls(this.#toolRun(rules, signal), calls);
      outcomes.push(...results.map(ignoreToolErrors));
      if (!this.#continues(results, signal)) {
        return this.#finish(signal.aborted ? [...outcomes, STOPPED] : outcomes);
      }
    }
  }

  async #mayContinue(steps: number, signal: AbortSignal): Promise<boolean> {
    const answer = this.#deps.mayContinue?.(steps, signal);
    return answer !== undefined && (await untilAborted(answer, signal)) === true;
  }

  async #reply(kind: 'reply' | 'resume', signal: AbortSignal): Promise<RunOutcome> {
    const { conversation } = this.#deps;
    return conversation ? writeReply({ ...this.#deps, conversation }, kind, signal) : failed(NO_MODEL);
  }

  /** Whether the model gets the results now: the run goes on, and the user has not begun a message. */
  #continues(results: readonly RunOutcome[], signal: AbortSignal): boolean {
    if (signal.aborted || results.length === 0 || results.some(endsRun)) return false;
    if (results.some(({ declined }) => declined)) return false;
    return !this.#deps.reviewResults?.() && endsWithResult(this.#text());
  }

  #toolRun(rules: ChatRules, signal: AbortSignal): ToolRun {
    const { conversation } = this.#deps;
    const givenTools = conversation && (() => conversation.tools(this.#text(), signal));
    return { ...this.#deps, rules, signal, givenTools };
  }

  #text(): string {
    return this.#deps.document.text();
  }

  async #rules(): Promise<ChatRules> {
    return (await this.#deps.conversation?.rules(this.#text())) ?? ALLOW_ALL;
  }

  async #finish(outcomes: readonly RunOutcome[]): Promise<RunOutcome> {
    // No new user turn after a lost reply, or when the user has changed the chat instead of answering.
    const isUntouched = outcomes.some(({ lost, untouched }) => lost === true || untouched === true);
    if (!isUntouched) await this.#deps.document.edit(endRun, { joinUndo: true });
    const failure = outcomes.find(endsRun) ?? outcomes.find((outcome) => !outcome.ok);
    const declined = outcomes.some((outcome) => outcome.declined) && { declined: true };
    const assets = outcomes.flatMap((outcome) => outcome.assets);
    return { ...(failure ?? { ok: true }), ...declined, assets };
  }
}

const ALLOW_ALL: ChatRules = { allows: () => true, allowsServer: () => true };

const NO_MODEL = 'This turn asks for a reply, and no model is available.';

function tooManySteps(steps: number): string {
  return `The model reached the limit of ${steps} ${steps === 1 ? 'step' : 'steps'}. Run again to continue.`;
}

interface ConverseOptions {
  readonly rules: ChatRules;
  readonly signal: AbortSignal;
  /** The outcomes before the first reply. */
  readonly done: readonly RunOutcome[];
  readonly first: 'reply' | 'resume';
}

/** The ids of the pending calls in the last reply, even if the user has begun a message below it. */
function pendingIds(text: string): readonly string[] {
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

function isInUserTurn(text: string, calls: readonly WrittenCall[]): boolean {
  const at = calls[0]?.start ?? 0;
  return parseChat(text).turns.some(({ role, start, end }) => role === 'user' && start <= at && at < end);
}

/** The model gets the errors of its tools and handles them. */
function ignoreToolErrors(outcome: RunOutcome): RunOutcome {
  if (endsRun(outcome)) return outcome;
  const { assets, declined } = outcome;
  return { ok: true, assets, ...(declined && { declined }) };
}

function endsRun({ cancelled, lost, resumable }: RunOutcome): boolean {
  return cancelled === true || lost === true || resumable === true;
}
