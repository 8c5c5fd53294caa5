import { stopwatch, untilAborted } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import {
  assignCallId,
  fillToolResult,
  markSent,
  removeSentMark,
  removeStaleMark,
  unansweredCalls,
} from '../chat/edits/append.ts';
import { parseArguments, renderCallName, renderToolName, type WrittenCall } from '../chat/format/callInfo.ts';
import { NO_SERVER, nameServer } from '../chat/format/legacy.ts';
import { isSameCall, nextAction, pendingCalls } from '../chat/format/nextAction.ts';
import { parseChat, turnAt } from '../chat/format/parse.ts';
import { toolOfName } from '../model/request/modelTools.ts';
import type { ChatDocument, RunOutcome } from '../ports/document.ts';
import type { ToolResult } from '../ports/results.ts';
import type { AuditEntry, ToolCall, ToolProgress } from '../ports/tools.ts';
import { failureOf } from '../result/blocks.ts';
import { renderToolResult } from '../result/markdown.ts';
import { reportingLargeFiles } from '../result/saveBytes.ts';
import { EDIT_FAILED, explainFailedEdit, failed, STOPPED } from './document.ts';
import {
  type CallDecision,
  type CallPermission,
  decideCall,
  namedResource,
  recordCall,
  type ToolCallDeps,
  type ToolRun,
} from './permission.ts';

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
  const ended = new AbortController();
  const asked = askTogether({ ...run, signal: AbortSignal.any([run.signal, ended.signal]) }, ids);
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
      const prepared = await (asked.get(id) ?? prepareCall(run, id));
      asked.delete(id);
      if (!prepared) continue;
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
    // Closes the questions that are still open, for example after a call could not be sent.
    ended.abort();
  }
  if (outcomes.length > 0 || ids.length === 0) return outcomes;
  return [run.signal.aborted ? STOPPED : LEFT_ALONE];
}

type PreparedCalls = Map<string, Promise<PreparedCall | undefined>>;

/** Each open question is looked for in the chat whenever that changes. The other calls are asked about in their turn. */
const MAX_ASKED_TOGETHER = 50;

/** Asks about all calls at once, if the user can answer in any order. They still run in theirs. */
function askTogether(run: ToolRun, ids: readonly string[]): PreparedCalls {
  const asked: PreparedCalls = new Map();
  if (!run.consent.asksTogether) return asked;
  for (const id of [...new Set(ids)].slice(0, MAX_ASKED_TOGETHER)) {
    const prepared = prepareCall(run, id);
    // Reported when it is awaited, unless the run ends before.
    prepared.catch(() => undefined);
    asked.set(id, prepared);
  }
  return asked;
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

/** Reads the call again each time: the user may have edited or deleted it while another one ran or was asked about. */
async function prepareCall(run: ToolRun, id: string): Promise<PreparedCall | undefined> {
  let allowed: string | undefined;
  for (;;) {
    const written = findPending(run.document, id);
    if (!written) return undefined;
    const { server, tool, argumentsText } = written;
    const read = parseArguments(argumentsText);
    const call: ToolCall = { server, tool, id, arguments: read.ok ? read.value : {} };
    if (!read.ok) return writeResult(run, call, problem(read.message));
    const decision = await decideCall(forAuthor(run, written), call, { written: argumentsText, allowed });
    if (run.signal.aborted) return STOPPED;
    if (decision.kind !== 'edited') return followDecision(run, { written, call }, decision);
    allowed = decision.argumentsText;
  }
}

/** Only a model needs the names of its tools. */
function forAuthor(run: ToolRun, { start }: WrittenCall): ToolRun {
  const isUsers = turnAt(parseChat(run.document.text()), start)?.role === 'user';
  return isUsers ? { ...run, givenTools: undefined } : run;
}

async function followDecision(
  run: ToolRun,
  { written, call }: { readonly written: WrittenCall; readonly call: ToolCall },
  decision: Exclude<CallDecision, { readonly kind: 'edited' }>,
): Promise<PreparedCall | undefined> {
  if (decision.kind === 'cancel') return STOPPED;
  // The user may have deleted this call only.
  if (decision.kind === 'withdraw') return findPending(run.document, call.id) && LEFT_ALONE;
  if (decision.kind === 'refuse') {
    const outcome = { ...(await writeResult(run, call, problem(decision.reason))), ...decision.cause };
    return decision.endsRun ? { ...outcome, declined: true } : outcome;
  }
  const { permission } = decision;
  return {
    isReadOnly: permission.tool.readOnly === true,
    run: async () => {
      if (isUnchanged(run.document, written)) return callTool(run, call, permission);
      recordCall(run, call, { outcome: 'cancelled' });
      return failed(`The call ${renderCallName(call)} was changed. Run again.`);
    },
  };
}

/** The permission covers only the call that the user saw. */
function isUnchanged(document: ChatDocument, written: WrittenCall): boolean {
  const now = findPending(document, written.id ?? '');
  return now !== undefined && isSameCall(now, written) && now.argumentsText === written.argumentsText;
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

/** Calls of chat.md may name no server. It is written into the chat where exactly one tool fits. */
export async function nameServers({ document, givenTools, signal }: ToolRun): Promise<void> {
  const pending = (text: string) => {
    const { turns } = parseChat(text);
    return pendingCalls(
      turns,
      turns.findLastIndex(({ role }) => role === 'assistant'),
    );
  };
  if (!givenTools || !pending(document.text()).some(({ server }) => server === NO_SERVER)) return;
  const tools = (await untilAborted(givenTools(), signal)) ?? [];
  const find = (name: string) => toolOfName(tools, name);
  while (await document.edit((text) => nameServer(text, pending(text), find)));
}

/** Sends a call and writes its result below it. */
async function callTool(run: ToolRun, call: ToolCall, permission: CallPermission): Promise<RunOutcome> {
  const elapsedMs = stopwatch();
  const answer = await sendCall(run, call, permission);
  if (!answer) {
    await run.document.edit((text) => removeSentMark(text, call), { joinUndo: true });
    recordCall(run, call, { outcome: 'cancelled' });
    return { ...STOPPED, error: NOT_SAVED };
  }
  const { result, isFromTool, isSent } = answer;
  const failure = !isFromTool && run.signal.aborted ? 'cancelled' : 'error';
  recordCall(run, call, {
    consent: permission.consent,
    outcome: isFromTool && errorOf(result) === undefined ? 'ok' : failure,
    ms: elapsedMs(),
    ...sizesOf(result),
    ...namedResource(call, permission.tool),
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
      chat: chat?.(),
      mayUse: rules.allowsServer,
    };
    const report = (large: string) => onLargeFiles?.(renderToolName(call), large);
    const result = await reportingLargeFiles(assets, report, (saving) =>
      tools.callTool(sent, { ...options, assets: saving }),
    );
    return { result, isFromTool: true, isSent };
  } catch (error) {
    const reason = signal.aborted ? 'The call was stopped before its result arrived.' : messageOf(error);
    log.warn(`${renderToolName(call)}: ${reason}`);
    return { result: problem(reason), isFromTool: false, isSent };
  }
}

/** All assets of the result are already on disk, so no link can dangle. */
async function writeResult(
  { document, rescue, onFailedCall }: ToolCallDeps,
  call: ToolCall,
  result: ToolResult,
): Promise<RunOutcome> {
  const body = renderToolResult(result);
  const error = errorOf(result);
  if (error !== undefined) onFailedCall?.(call, error);
  const assets = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
  if (await document.edit((text) => fillToolResult(text, call, body))) {
    await document.edit((text) => removeSentMark(text, call), { joinUndo: true });
    return error === undefined ? { ok: true, assets } : { ok: false, error, assets };
  }
  rescue?.(fillToolResult('', call, body).text);
  return { ok: false, error: EDIT_FAILED, assets, lost: true };
}

const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: Filechat ended before it could save the result. The call may have taken effect, so it was not sent again.';
/** The user has changed the chat, so a turn that is added to it would be in the way. */
const LEFT_ALONE: RunOutcome = { ...STOPPED, untouched: true };

const NOT_SAVED = 'The call was not sent, because the chat could not be saved. Save it, then run again.';

function problem(message: string): ToolResult {
  return { isError: false, parts: [{ kind: 'problem', message }] };
}

/** A result that consists of problems is a failure, even if the tool reports none. */
function errorOf(result: ToolResult): string | undefined {
  const { isError, parts } = result;
  const failure = failureOf(result);
  if (!isError || failure !== undefined) return failure;
  const said = parts.find((part) => part.kind === 'text' || part.kind === 'data');
  const text = said?.kind === 'text' ? said.text : said?.json;
  const found = parts.find((part) => part.kind === 'problem');
  return text ?? found?.message ?? 'The tool reported an error.';
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
