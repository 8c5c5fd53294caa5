import { untilAborted } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import {
  assignCallId,
  fillToolResult,
  markSent,
  removeSentMark,
  removeStaleMark,
  unansweredCalls,
} from '../chat/edits/append.ts';
import { parseArguments, renderToolName, type WrittenCall } from '../chat/format/calls.ts';
import { isSameCall, nextAction, pendingCalls } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import type { ChatDocument, FileArguments, Log, PreparedArguments, RunOutcome } from '../ports/document.ts';
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
  ToolName,
  ToolProgress,
} from '../ports/tools.ts';
import { reportingLargeFiles } from '../result/largeFiles.ts';
import { renderToolResult } from '../result/markdown.ts';
import { EDIT_FAILED, explainFailedEdit, failed, STOPPED } from './document.ts';

export interface ToolCallDeps {
  readonly document: ChatDocument;
  readonly assets: AssetStore;
  readonly tools: ToolHost;
  readonly consent: Consent;
  readonly files?: FileArguments | undefined;
  readonly log: Log;
  readonly onProgress?: ((call: ToolCall, progress: ToolProgress) => void) | undefined;
  readonly rescue?: ((markdown: string) => void) | undefined;
  /** The chat's address, for requests from servers and for the audit log. */
  readonly chat?: string | undefined;
  readonly audit?: Audit | undefined;
  /** Called once for a result with large files: who returned it, and the files with their sizes. */
  readonly onLargeFiles?: ((source: string, files: string) => void) | undefined;
  readonly isSwitchedOff?: ((tool: ToolName) => boolean) | undefined;
}

export interface ToolRun extends ToolCallDeps {
  readonly rules: ChatRules;
  readonly signal: AbortSignal;
}

/**
 * Runs the calls with these ids, by default the next ones in the file, and writes the results in their order.
 * Consecutive read-only calls run in parallel; any other call waits for those before it.
 */
export async function runPendingCalls(
  run: ToolRun,
  wanted?: readonly string[],
): Promise<readonly RunOutcome[]> {
  const ids = wanted ?? (await assignIds(run.document));
  if (!ids) return [failed(explainFailedEdit(run.document))];
  const outcomes: RunOutcome[] = [];
  const parallel = new Map<string, Promise<RunOutcome>>();
  const settle = async () => {
    const running = [...parallel.values()];
    parallel.clear();
    outcomes.push(...(await Promise.all(running)));
  };
  try {
    for (const id of ids) {
      // Of two calls with the same id, the second is found once the first has a result.
      if (parallel.has(id)) await settle();
      // Read again each time: the user may have edited or deleted a call while another one ran.
      const written = findPending(run.document, id);
      if (!written) continue;
      const prepared = await prepareCall(run, written);
      if ('run' in prepared && prepared.isReadOnly) {
        parallel.set(id, prepared.run());
        continue;
      }
      await settle();
      if (run.signal.aborted) break;
      outcomes.push('run' in prepared ? await prepared.run() : prepared);
      if (run.signal.aborted || outcomes.at(-1)?.cancelled) break;
    }
  } finally {
    await settle();
  }
  return outcomes;
}

/** An id lets a result find its call after the user has typed above it. */
async function assignIds(document: ChatDocument): Promise<readonly string[] | undefined> {
  while (await document.edit(assignCallId));
  const action = nextAction(document.text());
  const calls = action.kind === 'runTools' ? action.calls : [];
  const ids = calls.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return ids.length === calls.length ? ids : undefined;
}

function findPending(document: ChatDocument, id: string): WrittenCall | undefined {
  const { turns } = parseChat(document.text());
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const call = pendingCalls(turns, at).find((each) => each.id === id);
    if (call) return call;
  }
  return undefined;
}

/** A call that only has to be sent, or the outcome of one that will not be. */
type PreparedCall = RunOutcome | { readonly isReadOnly: boolean; run(): Promise<RunOutcome> };

async function prepareCall(run: ToolRun, written: WrittenCall): Promise<PreparedCall> {
  const read = parseArguments(written.argumentsText);
  const { server, tool, id = '' } = written;
  const call: ToolCall = { server, tool, id, arguments: read.ok ? read.value : {} };
  if (!read.ok) return writeResult(run, call, problem(read.message));
  const decision = await decideCall(run, call);
  if (run.signal.aborted || decision.kind === 'cancel') return STOPPED;
  if (decision.kind === 'refuse') return writeResult(run, call, problem(decision.reason));
  if (decision.kind === 'edit') return { ...STOPPED, error: TO_EDIT, edit: call.id };
  const { permission } = decision;
  return {
    isReadOnly: permission.tool.readOnly === true,
    run: async () => {
      if (isUnchanged(run.document, written)) return callTool(run, call, permission);
      record(run, call, { outcome: 'cancelled' });
      return failed(`The call ${renderToolName(call)} ${id} was changed. Run again.`);
    },
  };
}

/** The permission covers only the call that the user saw. */
function isUnchanged(document: ChatDocument, written: WrittenCall): boolean {
  const now = findPending(document, written.id ?? '');
  return now !== undefined && isSameCall(now, written) && now.argumentsText === written.argumentsText;
}

/** Checks that the tool exists, that the chat and the user allow the call, and that its files may be read. */
export async function decideCall(run: ToolRun, call: ToolCall): Promise<CallDecision> {
  const decided = await decide(run, call);
  const decision: CallDecision = run.signal.aborted ? { kind: 'cancel' } : decided;
  if (decision.kind !== 'allow') {
    record(run, call, { outcome: decision.kind === 'refuse' ? decision.outcome : 'cancelled' });
  }
  return decision;
}

async function decide(run: ToolRun, call: ToolCall): Promise<CallDecision> {
  const { rules, signal, tools, consent } = run;
  const name = renderToolName(call);
  if (!rules.allows(call)) return deny(`This chat does not allow the tool ${name}. See its front matter.`);
  if (run.isSwitchedOff?.(call)) {
    return deny(`The tool ${name} is switched off. The setting filechat.disabledTools says so.`);
  }
  const list = await untilAborted(tools.listTools(call.server, signal), signal);
  if (!list) return { kind: 'cancel' };
  const tool = list.tools.find((each) => each.server === call.server && each.tool === call.tool);
  if (!tool) {
    const reason = list.failures.find((each) => each.server === call.server)?.reason;
    return refuse(reason ?? `The server “${call.server}” has no tool “${call.tool}”. Nothing was called.`);
  }
  if (tool.forAppsOnly) {
    return deny(`The tool ${name} is only for the apps of its server. Nothing was called.`);
  }
  const other = tool.serverArgument === undefined ? undefined : call.arguments[tool.serverArgument];
  if (typeof other === 'string' && !rules.allowsServer(other)) {
    return deny(`This chat does not allow the server “${other}”. See its front matter.`);
  }
  const files = tool.readsReferences ? undefined : run.files;
  const prepared = await files?.prepare(call.arguments, tool.inputSchema);
  if (prepared?.ok === false) return refuse(prepared.message);
  const about = { notes: prepared?.notes, approve: rules.approve };
  const answer = await consent.mayCall(call, tool, about);
  if (answer.kind === 'allow') {
    return { kind: 'allow', permission: { files: prepared, tool, consent: answer.by } };
  }
  if (answer.kind !== 'deny') return answer;
  return deny(answer.reason ? `The user declined the call: ${answer.reason}` : 'The user declined the call.');
}

/** Writes a result for calls whose run ended before their results came. They are never sent again. */
export async function settleSentCalls(deps: ToolCallDeps): Promise<readonly RunOutcome[]> {
  const { document } = deps;
  const outcomes: RunOutcome[] = [];
  for (const call of unansweredCalls(document.text())) {
    outcomes.push(await writeResult(deps, { ...call, arguments: {} }, problem(UNKNOWN_OUTCOME)));
  }
  while (await document.edit(removeStaleMark));
  return outcomes;
}

/** Sends a call and writes its result below it. */
export async function callTool(
  run: ToolRun,
  call: ToolCall,
  permission: CallPermission,
): Promise<RunOutcome> {
  const startedAtMs = Date.now();
  const answer = await sendCall(run, call, permission);
  if (!answer) {
    await run.document.edit((text) => removeSentMark(text, call), { joinUndo: true });
    record(run, call, { outcome: 'cancelled' });
    return { ...STOPPED, error: NOT_SAVED };
  }
  const { result, isFromTool, isSent } = answer;
  const failure = !isFromTool && run.signal.aborted ? 'cancelled' : 'error';
  record(run, call, {
    consent: permission.consent,
    outcome: isFromTool && errorOf(result) === undefined ? 'ok' : failure,
    ms: Date.now() - startedAtMs,
    ...sizesOf(result),
    ...(isSent && filesGiven(permission)),
  });
  return writeResult(run, call, result);
}

interface CallAnswer {
  readonly result: ToolResult;
  /** False when Filechat explains in the result why there is none from the tool. */
  readonly isFromTool: boolean;
  /** The tool may have received its files. */
  readonly isSent: boolean;
}

/**
 * The tool gets the files; the document keeps the references to them. Resolves to undefined, with nothing sent, when
 * the chat could not be saved.
 */
async function sendCall(
  { document, assets, tools, onProgress, onLargeFiles, log, chat, signal, rules }: ToolRun,
  call: ToolCall,
  { files }: CallPermission,
): Promise<CallAnswer | undefined> {
  let isSent = false;
  try {
    const resolved = (await files?.resolve(signal)) ?? { ok: true, arguments: call.arguments };
    if (!resolved.ok) return { result: problem(resolved.message), isFromTool: false, isSent };
    // The file on disk says that the call was sent before the server can see it.
    const isMarked = await document.edit((text) => markSent(text, call));
    if (!isMarked || !(await document.save())) return undefined;
    const sent = { ...call, arguments: resolved.arguments };
    isSent = true;
    const options = {
      signal,
      onProgress: (progress: ToolProgress) => onProgress?.(call, progress),
      chat,
      mayUse: rules.allowsServer,
    };
    const report = (large: string) => onLargeFiles?.(renderToolName(call), large);
    const result = await reportingLargeFiles(assets, report, (saving) =>
      tools.callTool(sent, { ...options, assets: saving }),
    );
    return { result, isFromTool: true, isSent };
  } catch (error) {
    const reason = signal.aborted ? 'The call was stopped before it answered.' : messageOf(error);
    log.warn(`${renderToolName(call)}: ${reason}`);
    return { result: problem(reason), isFromTool: false, isSent };
  }
}

/** Counts the arguments as the chat has them, with references instead of files. */
function record(
  { audit, chat }: ToolCallDeps,
  call: ToolCall,
  more: Pick<AuditEntry, 'outcome'> & Partial<AuditEntry>,
): void {
  audit?.record({
    kind: 'call',
    server: call.server,
    name: call.tool,
    chat,
    argumentBytes: Buffer.byteLength(JSON.stringify(call.arguments)),
    ...more,
  });
}

/** All assets of the result are already on disk, so no link can dangle. */
async function writeResult(
  { document, rescue }: ToolCallDeps,
  call: ToolCall,
  result: ToolResult,
): Promise<RunOutcome> {
  const body = renderToolResult(result);
  const assets = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
  if (await document.edit((text) => fillToolResult(text, call, body))) {
    await document.edit((text) => removeSentMark(text, call), { joinUndo: true });
    const error = errorOf(result);
    return error === undefined ? { ok: true, assets } : { ok: false, error, assets };
  }
  rescue?.(fillToolResult('', call, body).text);
  return { ok: false, error: EDIT_FAILED, assets, lost: true };
}

const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: Filechat ended before it could save the result. The call may have taken effect, so it was not sent again.';
const NOT_SAVED = 'The call was not sent, because the chat could not be saved. Save it, then run again.';
const TO_EDIT = 'The call is pending in the chat. Edit its arguments, then run again.';

interface CallPermission {
  readonly files: Extract<PreparedArguments, { readonly ok: true }> | undefined;
  readonly tool: ToolInfo;
  readonly consent: ConsentSource | undefined;
}

type CallDecision =
  | { readonly kind: 'allow'; readonly permission: CallPermission }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'edit' }
  | { readonly kind: 'refuse'; readonly reason: string; readonly outcome: 'denied' | 'error' };

/** The call is impossible. */
function refuse(reason: string): CallDecision {
  return { kind: 'refuse', reason, outcome: 'error' };
}

/** The user, the chat or a setting does not allow the call. */
function deny(reason: string): CallDecision {
  return { kind: 'refuse', reason, outcome: 'denied' };
}

function problem(message: string): ToolResult {
  return { isError: false, parts: [{ kind: 'problem', message }] };
}

/** A result that consists of problems is a failure, even if the tool reports none. */
function errorOf({ isError, parts }: ToolResult): string | undefined {
  const found = parts.find((part) => part.kind === 'problem');
  const isUnusable = found !== undefined && parts.every((part) => part.kind === 'problem');
  if (!isError && !isUnusable) return undefined;
  const text = parts.find((part) => part.kind === 'text')?.text;
  return found?.message ?? text ?? 'The tool reported an error.';
}

function filesGiven({ files }: CallPermission): Pick<AuditEntry, 'files'> {
  return files && files.files.length > 0 ? { files: files.files } : {};
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
