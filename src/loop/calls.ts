import { messageOf } from '../base/errors.ts';
import { assignCallId, fillToolResult } from '../chat/edits/append.ts';
import { markSent, removeSentMark, removeStaleMark, unansweredCalls } from '../chat/edits/sentCall.ts';
import { parseArguments, renderToolName, type WrittenCall } from '../chat/format/calls.ts';
import { isSameCall, nextAction, pendingCalls } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import type { Log, RunOutcome } from '../ports/document.ts';
import type { FileArguments, PreparedArguments } from '../ports/files.ts';
import type { ChatRules } from '../ports/models.ts';
import type { AssetStore, ToolResult } from '../ports/results.ts';
import type {
  Audit,
  AuditEntry,
  Consent,
  ConsentSource,
  ToolCall,
  ToolHost,
  ToolInfo,
  ToolList,
  ToolName,
  ToolProgress,
} from '../ports/tools.ts';

import { renderToolResult } from '../result/markdown.ts';
import { type ChatEdits, failed, NOT_WRITTEN, STOPPED } from './chatEdits.ts';

export interface ToolRunParts {
  readonly assets: AssetStore;
  readonly tools: ToolHost;
  readonly consent: Consent;
  readonly files?: FileArguments | undefined;
  readonly log: Log;
  readonly onProgress?: ((call: ToolCall, progress: ToolProgress) => void) | undefined;
  readonly rescue?: ((markdown: string) => void) | undefined;
  /** The chat's address, for what a server asks while it works, and for the audit. */
  readonly chat?: string | undefined;
  readonly audit?: Audit | undefined;
  /** Whether the user has switched a tool off. */
  readonly isSwitchedOff?: ((tool: ToolName) => boolean) | undefined;
}

/** Makes the calls that stand in the chat, with consent, and writes what came behind them, in their order. */
export class ToolRuns {
  readonly #parts: ToolRunParts;
  readonly #document: ChatEdits;

  constructor(parts: ToolRunParts, document: ChatEdits) {
    this.#parts = parts;
    this.#document = document;
  }

  /**
   * Makes the calls with these ids, or those that the file asks for. Read-only calls that follow one another run
   * side by side; each of the others waits for the ones before it.
   */
  async runPending(
    rules: ChatRules,
    signal: AbortSignal,
    wanted?: readonly string[],
  ): Promise<readonly RunOutcome[]> {
    const ids = wanted ?? (await this.#assignIds());
    if (!ids) return [failed(this.#document.whyNotWritten())];
    const outcomes: RunOutcome[] = [];
    const beside = new Map<string, Promise<RunOutcome>>();
    const settle = async () => {
      const running = [...beside.values()];
      beside.clear();
      outcomes.push(...(await Promise.all(running)));
    };
    try {
      for (const id of ids) {
        // Of two calls with one id, the second is found when the first has its answer.
        if (beside.has(id)) await settle();
        // Read anew each time: the user may have changed or deleted a call while another one ran.
        const written = this.#find(id);
        if (!written) continue;
        const ready = await this.#makeReady(written, rules, signal);
        if (ready.kind === 'ready' && ready.readOnly) {
          beside.set(id, ready.run());
          continue;
        }
        await settle();
        if (signal.aborted) break;
        outcomes.push(ready.kind === 'ready' ? await ready.run() : ready.outcome);
        if (signal.aborted || outcomes.at(-1)?.cancelled) break;
      }
    } finally {
      // What has begun is waited for, whatever becomes of the others.
      await settle();
    }
    return outcomes;
  }

  /** With ids a result finds its call again, whatever is typed in the meantime. */
  async #assignIds(): Promise<readonly string[] | undefined> {
    while (await this.#document.edit(assignCallId));
    const action = nextAction(this.#document.text());
    const calls = action.kind === 'runTools' ? action.calls : [];
    const ids = calls.flatMap(({ id }) => (id === undefined ? [] : [id]));
    return ids.length === calls.length ? ids : undefined;
  }

  /** The call of that id which nobody has answered yet. */
  #find(id: string): WrittenCall | undefined {
    const { turns } = parseChat(this.#document.text());
    for (let at = turns.length - 1; at >= 0; at -= 1) {
      const call = pendingCalls(turns, at).find((each) => each.id === id);
      if (call) return call;
    }
    return undefined;
  }

  async #makeReady(written: WrittenCall, rules: ChatRules, signal: AbortSignal): Promise<Ready> {
    const read = parseArguments(written.argumentsText);
    const { server, tool, id = '' } = written;
    const call: ToolCall = { server, tool, id, arguments: read.ok ? read.value : {} };
    if (!read.ok) return done(await this.write(call, refusal(read.message)));
    const verdict = await this.judge(call, rules, signal);
    if (signal.aborted || verdict.kind === 'cancel') return done(STOPPED);
    if (verdict.kind === 'refuse') return done(await this.write(call, refusal(verdict.reason)));
    if (verdict.kind === 'edit') return done({ ...STOPPED, error: TO_EDIT, edit: call.id });
    const run = async () => {
      if (this.#isStill(written)) return this.answer(call, verdict.prepared, signal);
      this.#record(call, { outcome: 'cancelled' });
      return failed(`The call ${renderToolName(call)} ${id} was changed: run again.`);
    };
    return { kind: 'ready', readOnly: verdict.prepared.tool.readOnly === true, run };
  }

  /** The consent was for what the file said then. */
  #isStill(written: WrittenCall): boolean {
    const now = this.#find(written.id ?? '');
    return now !== undefined && isSameCall(now, written) && now.argumentsText === written.argumentsText;
  }

  /** A call needs a tool that exists and that the chat allows, files that may be given to it, and a user who agrees. */
  async judge(call: ToolCall, rules: ChatRules, signal: AbortSignal): Promise<Verdict> {
    const verdict = await this.#decide(call, rules, signal);
    if (signal.aborted) this.#record(call, { outcome: 'cancelled' });
    else if (verdict.kind === 'refuse') this.#record(call, { outcome: verdict.outcome });
    else if (verdict.kind !== 'allow') this.#record(call, { outcome: 'cancelled' });
    return signal.aborted ? { kind: 'cancel' } : verdict;
  }

  async #decide(call: ToolCall, rules: ChatRules, signal: AbortSignal): Promise<Verdict> {
    if (!rules.allows(call)) {
      return deny(`This chat does not allow the tool ${renderToolName(call)}. See its front matter.`);
    }
    if (this.#parts.isSwitchedOff?.(call)) {
      return deny(
        `The tool ${renderToolName(call)} is switched off. The setting filechat.disabledTools says so.`,
      );
    }
    const list = await this.#listTools(call.server, signal);
    if (!list) return { kind: 'cancel' };
    const { tools, failures } = list;
    const tool = tools.find((each) => each.server === call.server && each.tool === call.tool);
    if (!tool) {
      const reason = failures.find((each) => each.server === call.server)?.reason;
      return refuse(reason ?? `The server “${call.server}” has no tool “${call.tool}”. Nothing was called.`);
    }
    if (tool.forAppsOnly) {
      return deny(`The tool ${renderToolName(call)} is only for the apps of its server. Nothing was called.`);
    }
    const files = tool.readsReferences ? undefined : this.#parts.files;
    const prepared = await files?.prepare(call.arguments, tool.inputSchema);
    if (prepared?.ok === false) return refuse(prepared.message);
    const answer = await this.#parts.consent.mayCall(call, tool, {
      notes: prepared?.notes,
      approve: rules.approve,
    });
    if (answer.kind === 'allow') {
      return { kind: 'allow', prepared: { files: prepared, tool, consent: answer.by } };
    }
    if (answer.kind !== 'deny') return answer;
    return deny(
      answer.reason ? `The user declined the call: ${answer.reason}` : 'The user declined the call.',
    );
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

  /**
   * Says what is known about calls that were sent by a run which did not live to see their results. They are not
   * sent again: that is for the user or the model to decide.
   */
  async settleSent(): Promise<readonly RunOutcome[]> {
    const outcomes: RunOutcome[] = [];
    for (const call of unansweredCalls(this.#document.text())) {
      outcomes.push(await this.write({ ...call, arguments: {} }, refusal(UNKNOWN_OUTCOME)));
    }
    while (await this.#document.edit(removeStaleMark));
    return outcomes;
  }

  async answer(call: ToolCall, prepared: Prepared, signal: AbortSignal): Promise<RunOutcome> {
    const startedAtMs = Date.now();
    const came = await this.#call(call, prepared, signal);
    if (came === 'notSaved') {
      await this.#document.edit((text) => removeSentMark(text, call), { joinUndo: true });
      this.#record(call, { outcome: 'cancelled' });
      return { ...STOPPED, error: NOT_SAVED };
    }
    const { result, isFromTool } = came;
    this.#record(call, {
      consent: prepared.consent,
      outcome: outcomeOf(result, { isFromTool, isStopped: signal.aborted }),
      ms: Date.now() - startedAtMs,
      ...sizesOf(result),
    });
    return this.write(call, result);
  }

  /** The result, or why there is none as a result. The tool gets the files; the document keeps the references. */
  async #call(call: ToolCall, { files }: Prepared, signal: AbortSignal): Promise<Came | 'notSaved'> {
    const { assets, tools, onProgress, log, chat } = this.#parts;
    try {
      const resolved = (await files?.resolve(signal)) ?? { ok: true, arguments: call.arguments };
      if (!resolved.ok) return { result: refusal(resolved.message), isFromTool: false };
      // Before the server can see the call, the file says that it was sent.
      const isMarked = await this.#document.edit((text) => markSent(text, call));
      if (!isMarked || !(await this.#document.save())) return 'notSaved';
      const sent = { ...call, arguments: resolved.arguments };
      const result = await tools.callTool(sent, {
        assets: assets.beginResult(),
        signal,
        onProgress: (progress) => onProgress?.(call, progress),
        chat,
      });
      return { result, isFromTool: true };
    } catch (error) {
      const reason = signal.aborted ? 'The call was stopped before it answered.' : messageOf(error);
      log.warn(`${renderToolName(call)}: ${reason}`);
      return { result: refusal(reason), isFromTool: false };
    }
  }

  /** The arguments count as the chat has them: with references in the place of files. */
  #record(call: ToolCall, more: Pick<AuditEntry, 'outcome'> & Partial<AuditEntry>): void {
    const { audit, chat } = this.#parts;
    audit?.record({
      kind: 'call',
      server: call.server,
      name: call.tool,
      chat,
      argumentBytes: Buffer.byteLength(JSON.stringify(call.arguments)),
      ...more,
    });
  }

  /** Bytes before links: by now every asset of the result is whole on disk. */
  async write(call: ToolCall, result: ToolResult): Promise<RunOutcome> {
    const body = renderToolResult(result);
    const assets = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
    if (await this.#document.edit((text) => fillToolResult(text, call, body))) {
      await this.#document.edit((text) => removeSentMark(text, call), { joinUndo: true });
      const error = errorOf(result);
      return error === undefined ? { ok: true, assets } : { ok: false, error, assets };
    }
    this.#parts.rescue?.(fillToolResult('', call, body).text);
    return { ok: false, error: NOT_WRITTEN, assets, lost: true };
  }
}

const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: Filechat ended before it could save the result. The call may have taken effect, so it was not sent again.';
const NOT_SAVED = 'The call was not sent, because the chat could not be saved. Save it, then run again.';
const TO_EDIT = 'The call waits in the chat: change its arguments, then run.';

/** What a call that may be made goes with: its files if it has some, its tool, and who agreed. */
export interface Prepared {
  readonly files: Extract<PreparedArguments, { readonly ok: true }> | undefined;
  readonly tool: ToolInfo;
  readonly consent: ConsentSource | undefined;
}

export type Verdict =
  | { readonly kind: 'allow'; readonly prepared: Prepared }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'edit' }
  | { readonly kind: 'refuse'; readonly reason: string; readonly outcome: 'denied' | 'error' };

/** What came of a call: from its tool, or our word in its place. */
interface Came {
  readonly result: ToolResult;
  readonly isFromTool: boolean;
}

/** A call that only has to be made, or what became of it already. */
type Ready =
  | { readonly kind: 'ready'; readonly readOnly: boolean; run(): Promise<RunOutcome> }
  | { readonly kind: 'done'; readonly outcome: RunOutcome };

function done(outcome: RunOutcome): Ready {
  return { kind: 'done', outcome };
}

/** There is nothing that could be called. */
function refuse(reason: string): Verdict {
  return { kind: 'refuse', reason, outcome: 'error' };
}

/** Somebody does not want it called. */
function deny(reason: string): Verdict {
  return { kind: 'refuse', reason, outcome: 'denied' };
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

function outcomeOf(
  result: ToolResult,
  { isFromTool, isStopped }: { isFromTool: boolean; isStopped: boolean },
): AuditEntry['outcome'] {
  if (!isFromTool) return isStopped ? 'cancelled' : 'error';
  return errorOf(result) === undefined ? 'ok' : 'error';
}

function sizesOf({ parts }: ToolResult): Pick<AuditEntry, 'resultBytes' | 'assets'> {
  const texts = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    return part.kind === 'data' ? part.json : '';
  });
  return {
    resultBytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    assets: parts.filter(({ kind }) => kind === 'asset').length,
  };
}
