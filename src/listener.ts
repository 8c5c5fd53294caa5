import { appendCall, assignCallId, endWithUserTurn, fillToolResult, newCallId } from './chat/edits.ts';
import { isSameCall, nextAction } from './chat/nextAction.ts';
import { parseChat } from './chat/parse.ts';
import { readArguments, renderToolName, type WrittenCall } from './chat/toolCall.ts';
import type {
  AssetStore,
  ChatDocument,
  Consent,
  FileArguments,
  Log,
  PreparedArguments,
  RunOutcome,
  TextEdit,
  ToolCall,
  ToolHost,
  ToolList,
  ToolName,
  ToolProgress,
  ToolResult,
} from './ports.ts';
import { renderToolResult } from './result/markdown.ts';

export interface ListenerParts {
  readonly document: ChatDocument;
  readonly assets: AssetStore;
  readonly tools: ToolHost;
  readonly consent: Consent;
  /** Without it, references to files reach the tools as they are written. */
  readonly files?: FileArguments;
  readonly log: Log;
  readonly onProgress?: (call: ToolCall, progress: ToolProgress) => void;
  /** Given a tool turn that the document did not take; it may have cost something. */
  readonly rescue?: (markdown: string) => void;
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
  #running: AbortController | undefined;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Stops at once; what came before stays in the document. */
  stop(): void {
    this.#running?.abort(new Error('Stopped.'));
  }

  /** Runs the calls that the file asks for and that nobody has answered yet. */
  run(): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      const action = nextAction(this.#parts.document.text());
      if (action.kind !== 'runTools') return failed(action.kind === 'wait' ? action.reason : NO_MODEL);
      return this.#runPendingCalls(signal);
    });
  }

  /** Asks, writes the call into the document, and runs it. A call that is declined is not written. */
  callTool(request: ToolRequest): Promise<RunOutcome> {
    return this.#exclusively(async (signal) => {
      const verdict = await this.#judge({ ...request, id: '' }, signal);
      if (signal.aborted || verdict.kind === 'cancel') return STOPPED;
      if (verdict.kind === 'refuse') return failed(verdict.reason);
      let call: ToolCall | undefined;
      const written = await this.#edit((text) => {
        call = { ...request, id: newCallId(text) };
        return appendCall(text, call);
      });
      if (!written || !call) return failed(this.#whyNotWritten());
      return this.#finish([await this.#answer(call, verdict.prepared, signal)]);
    });
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

  async #runPendingCalls(signal: AbortSignal): Promise<RunOutcome> {
    // Ids first: with them a result finds its call again, whatever is typed in the meantime.
    while (await this.#edit(assignCallId));
    const ids = this.#pending().map((call) => call.id);
    if (ids.includes(undefined)) return failed(this.#whyNotWritten());
    const outcomes: RunOutcome[] = [];
    for (const id of ids) {
      // Read anew each time: the user may have changed or deleted a call while another one ran.
      const written = this.#pending().find((call) => call.id === id);
      if (written) outcomes.push(await this.#runWritten(written, signal));
      if (signal.aborted || outcomes.at(-1)?.cancelled) break;
    }
    return this.#finish(outcomes);
  }

  #pending(): readonly WrittenCall[] {
    const action = nextAction(this.#parts.document.text());
    return action.kind === 'runTools' ? action.calls : [];
  }

  async #runWritten(written: WrittenCall, signal: AbortSignal): Promise<RunOutcome> {
    const read = readArguments(written.argumentsText);
    const { server, tool, id = '' } = written;
    const call: ToolCall = { server, tool, id, arguments: read.ok ? read.value : {} };
    if (!read.ok) return this.#write(call, refusal(read.message));
    const verdict = await this.#judge(call, signal);
    if (signal.aborted || verdict.kind === 'cancel') return STOPPED;
    if (verdict.kind === 'refuse') return this.#write(call, refusal(verdict.reason));
    // The consent was for what the file said then.
    const unchanged = this.#pending().some(
      (each) => isSameCall(each, written) && each.argumentsText === written.argumentsText,
    );
    return unchanged
      ? this.#answer(call, verdict.prepared, signal)
      : failed(`The call ${renderToolName(call)} ${id} was changed: run again.`);
  }

  /** A call needs a tool that exists, files that may be given to it, and a user who agrees. */
  async #judge(call: ToolCall, signal: AbortSignal): Promise<Verdict> {
    const list = await this.#listTools(call.server, signal);
    if (!list) return { kind: 'cancel' };
    const { tools, failures } = list;
    const tool = tools.find((each) => each.server === call.server && each.tool === call.tool);
    if (!tool) {
      const reason = failures.find((each) => each.server === call.server)?.reason;
      return refuse(reason ?? `The server “${call.server}” has no tool “${call.tool}”. Nothing was called.`);
    }
    const prepared = await this.#parts.files?.prepare(call.arguments, tool.inputSchema);
    if (prepared?.ok === false) return refuse(prepared.message);
    const answer = await this.#parts.consent.mayCall(call, tool, prepared?.notes);
    if (answer.kind === 'allow') return { kind: 'allow', prepared };
    if (answer.kind === 'cancel') return answer;
    return refuse(answer.reason ? `The call was declined: ${answer.reason}` : 'The call was declined.');
  }

  /** Resolves to nothing when it is stopped: a server may take long to start. */
  async #listTools(server: string, signal: AbortSignal): Promise<ToolList | undefined> {
    try {
      return await this.#parts.tools.listTools(server, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async #answer(call: ToolCall, prepared: Prepared, signal: AbortSignal): Promise<RunOutcome> {
    return this.#write(call, await this.#call(call, prepared, signal));
  }

  /** The result, or why there is none as a result. The tool gets the files; the document keeps the references. */
  async #call(call: ToolCall, prepared: Prepared, signal: AbortSignal): Promise<ToolResult> {
    const { assets, tools, onProgress, log } = this.#parts;
    try {
      const resolved = (await prepared?.resolve(signal)) ?? { ok: true, arguments: call.arguments };
      if (!resolved.ok) return refusal(resolved.message);
      const sent = { ...call, arguments: resolved.arguments };
      return await tools.callTool(sent, {
        assets: assets.beginResult(),
        signal,
        onProgress: (progress) => onProgress?.(call, progress),
      });
    } catch (error) {
      const reason = signal.aborted ? 'The call was stopped before it answered.' : messageOf(error);
      log.warn(`${renderToolName(call)}: ${reason}`);
      return refusal(reason);
    }
  }

  /** Bytes before links: by now every asset of the result is whole on disk. */
  async #write(call: ToolCall, result: ToolResult): Promise<RunOutcome> {
    const body = renderToolResult(result);
    const assets = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
    const error = (await this.#writeTurn(call, body)) ?? errorOf(result);
    return error === undefined ? { ok: true, assets } : { ok: false, error, assets };
  }

  /** Resolves to what went wrong, if anything did. */
  async #writeTurn(call: ToolCall, body: string): Promise<string | undefined> {
    if (await this.#edit((text) => fillToolResult(text, call, body))) return undefined;
    this.#parts.rescue?.(fillToolResult('', call, body).text);
    return NOT_WRITTEN;
  }

  /** A document that is gone takes no edit, just like one that is read-only. */
  async #edit(compute: (text: string) => TextEdit | undefined): Promise<boolean> {
    try {
      return await this.#parts.document.edit(compute);
    } catch (error) {
      this.#parts.log.error(`The chat could not be changed: ${messageOf(error)}`);
      return false;
    }
  }

  #whyNotWritten(): string {
    const { endsInFence } = parseChat(this.#parts.document.text());
    return endsInFence ? 'A code fence at the end of the chat is never closed. Close it first.' : NOT_WRITTEN;
  }

  async #finish(outcomes: readonly RunOutcome[]): Promise<RunOutcome> {
    // Nothing came, so nothing is to be added.
    if (outcomes.some((outcome) => !outcome.cancelled)) await this.#edit(endWithUserTurn);
    const failure = outcomes.find((outcome) => !outcome.ok);
    return { ...(failure ?? { ok: true }), assets: outcomes.flatMap((outcome) => outcome.assets) };
  }
}

const NO_MODEL =
  'This turn asks for a reply, and this version has no models yet. It runs tool calls: use “Filechat: Call Tool…”.';
const STOPPED: RunOutcome = { ok: false, error: 'Stopped.', cancelled: true, assets: [] };
const NOT_WRITTEN = 'The document did not take the change. Is it read-only or closed?';

function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

/** The files of a call that has some and may be made. */
type Prepared = Extract<PreparedArguments, { readonly ok: true }> | undefined;

type Verdict =
  | { readonly kind: 'allow'; readonly prepared: Prepared }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'refuse'; readonly reason: string };

function refuse(reason: string): Verdict {
  return { kind: 'refuse', reason };
}

function refusal(message: string): ToolResult {
  return { isError: false, parts: [{ kind: 'problem', message }] };
}

/** A tool that failed is a failed run; so is a result of which nothing could be used. */
function errorOf({ isError, parts }: ToolResult): string | undefined {
  const problem = parts.find((part) => part.kind === 'problem');
  const unusable = problem !== undefined && parts.every((part) => part.kind === 'problem');
  if (!isError && !unusable) return undefined;
  const text = parts.find((part) => part.kind === 'text')?.text;
  return problem?.message ?? text ?? 'The tool reported an error.';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
