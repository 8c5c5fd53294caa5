import { untilAborted } from '../base/async.ts';
import { renderToolName } from '../chat/format/callInfo.ts';
import { listNames, UNKNOWN_SERVER } from '../model/request/modelTools.ts';
import type { ChatDocument, FileArguments, Log, PreparedArguments, RunOutcome } from '../ports/document.ts';
import type { ChatRules, ModelTool } from '../ports/models.ts';
import type { AssetStore } from '../ports/results.ts';
import type {
  Audit,
  AuditEntry,
  Consent,
  ConsentSource,
  ListFailure,
  ToolCall,
  ToolHost,
  ToolInfo,
  ToolName,
  ToolProgress,
} from '../ports/tools.ts';

export interface ToolCallDeps {
  readonly document: ChatDocument;
  readonly assets: AssetStore;
  readonly tools: ToolHost;
  readonly consent: Consent;
  readonly files?: FileArguments | undefined;
  readonly log: Log;
  readonly onProgress?: ((call: ToolCall, progress: ToolProgress) => void) | undefined;
  readonly rescue?: ((markdown: string) => void) | undefined;
  /** The chat's address, for requests from servers and for the audit log. A chat can be renamed while it runs. */
  readonly chat?: (() => string) | undefined;
  readonly audit?: Audit | undefined;
  /** Called for each call whose result is an error, which may be the text of its tool. */
  readonly onFailedCall?: ((call: ToolCall, error: string) => void) | undefined;
  /** Called once for a result with large files: who returned it, and the files with their sizes. */
  readonly onLargeFiles?: ((source: string, files: string) => void) | undefined;
  readonly isSwitchedOff?: ((tool: ToolName) => boolean) | undefined;
}

export interface ToolRun extends ToolCallDeps {
  readonly rules: ChatRules;
  /** The tools that the model was given. */
  readonly givenTools?: (() => Promise<readonly ModelTool[]>) | undefined;
  readonly signal: AbortSignal;
}

export interface CallPermission {
  readonly files: Extract<PreparedArguments, { readonly ok: true }> | undefined;
  readonly tool: ToolInfo;
  readonly consent: ConsentSource | undefined;
}

export type CallDecision =
  | { readonly kind: 'allow'; readonly permission: CallPermission }
  /** The user allowed other arguments, to which the call was changed in the chat. */
  | { readonly kind: 'edited'; readonly argumentsText: string }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'withdraw' }
  | Refusal;

interface Refusal {
  readonly kind: 'refuse';
  readonly reason: string;
  readonly outcome: 'denied' | 'error';
  readonly endsRun?: true | undefined;
  /** The tool, if it was found. */
  readonly tool?: ToolInfo | undefined;
  readonly cause?: Pick<RunOutcome, 'failure'> | undefined;
}

interface CallText {
  /** The arguments as they are written in the chat. */
  readonly written: string;
  /** The arguments that the user allowed after editing them. */
  readonly allowed?: string | undefined;
}

/** Checks that the tool exists, that the chat and the user allow the call, and that its files may be read. */
export async function decideCall(run: ToolRun, call: ToolCall, text: CallText): Promise<CallDecision> {
  const decided = await decide(run, call, text);
  const decision: CallDecision = run.signal.aborted ? { kind: 'cancel' } : decided;
  if (decision.kind !== 'allow' && decision.kind !== 'edited') {
    const about = decision.kind === 'refuse' ? namedResource(call, decision.tool) : {};
    recordCall(run, call, { outcome: decision.kind === 'refuse' ? decision.outcome : 'cancelled', ...about });
  }
  return decision;
}

/** Why the call is impossible, before the user is asked about it. Undefined if it is possible, or on abort. */
export async function findRefusal(run: ToolRun, call: ToolCall): Promise<Refusal | undefined> {
  const checked = await checkCall(run, call);
  if (checked.kind !== 'refuse') return undefined;
  recordCall(run, call, { outcome: checked.outcome, ...namedResource(call, checked.tool) });
  return checked;
}

export const DECLINED = 'The user declined the call.';

async function decide(run: ToolRun, call: ToolCall, { written, allowed }: CallText): Promise<CallDecision> {
  const checked = await checkCall(run, call);
  if (checked.kind !== 'possible') return checked;
  const { tool, files } = checked;
  // The files of edited arguments have not been shown yet.
  if (allowed === written && (files?.notes.length ?? 0) === 0) {
    return { kind: 'allow', permission: { files, tool, consent: 'asked' } };
  }
  const answer = await run.consent.mayCall(call, tool, {
    chat: run.chat?.(),
    written,
    signal: run.signal,
    notes: files?.notes,
    files: files?.given,
    approve: run.rules.approve,
  });
  if (answer.kind === 'allow' && answer.edited !== undefined) {
    return { kind: 'edited', argumentsText: answer.edited };
  }
  if (answer.kind === 'allow') return { kind: 'allow', permission: { files, tool, consent: answer.by } };
  if (answer.kind !== 'deny') return answer;
  const reason = answer.reason ? `The user declined the call: ${answer.reason}` : DECLINED;
  return { ...deny(reason, tool), endsRun: answer.endsRun };
}

interface PossibleCall {
  readonly kind: 'possible';
  readonly tool: ToolInfo;
  readonly files: CallPermission['files'];
}

async function checkCall(
  run: ToolRun,
  call: ToolCall,
): Promise<PossibleCall | Refusal | { readonly kind: 'cancel' }> {
  const { rules, signal, tools } = run;
  const name = renderToolName(call);
  if (!rules.allows(call)) {
    return deny(await withNames(run, `This chat does not allow the tool ${name}. See its front matter.`));
  }
  if (run.isSwitchedOff?.(call)) {
    return deny(`The tool ${name} is turned off in the setting filechat.disabledTools.`);
  }
  const list = await untilAborted(tools.listTools(call.server, signal), signal);
  if (!list) return { kind: 'cancel' };
  const tool = list.tools.find((each) => each.server === call.server && each.tool === call.tool);
  if (!tool) {
    const failure = list.failures.find((each) => each.server === call.server);
    return explainMissing(run, call, failure);
  }
  if (tool.forAppsOnly) {
    return deny(`The tool ${name} is only for the apps of its server. No tool was called.`);
  }
  const other = tool.serverArgument === undefined ? undefined : call.arguments[tool.serverArgument];
  if (typeof other === 'string' && !rules.allowsServer(other)) {
    return deny(`This chat does not allow the server “${other}”. See its front matter.`, tool);
  }
  const files = tool.readsReferences ? undefined : run.files;
  const prepared = await files?.prepare(call.arguments, tool.inputSchema);
  return prepared?.ok === false ? refuse(prepared.message) : { kind: 'possible', tool, files: prepared };
}

async function explainMissing(run: ToolRun, call: ToolCall, failure?: ListFailure): Promise<Refusal> {
  if (failure && !(failure.isUnknown && run.givenTools)) {
    const { server, reason } = failure;
    return refuse(reason, { failure: { kind: 'server', server, reason } });
  }
  const missing = failure
    ? `There is no tool “${call.server === UNKNOWN_SERVER ? call.tool : renderToolName(call)}”`
    : `The server “${call.server}” has no tool “${call.tool}”`;
  return refuse(await withNames(run, `${missing}. No tool was called.`));
}

/** Adds the names that the model was given, so that it can correct its call. */
async function withNames({ givenTools, signal }: ToolRun, reason: string): Promise<string> {
  const given = givenTools && (await untilAborted(givenTools(), signal));
  return given ? `${reason} ${listNames(given)}` : reason;
}

/** The call is impossible. */
function refuse(reason: string, cause?: Refusal['cause']): Refusal {
  return { kind: 'refuse', reason, outcome: 'error', cause };
}

/** The user, the chat or a setting does not allow the call. */
function deny(reason: string, tool?: ToolInfo): Refusal {
  return { kind: 'refuse', reason, outcome: 'denied', tool };
}

/** For the audit log, which contains no other arguments. */
export function namedResource(
  { arguments: given }: ToolCall,
  tool: ToolInfo | undefined,
): Pick<AuditEntry, 'resource'> {
  if (tool?.serverArgument === undefined) return {};
  const [server, uri] = [given[tool.serverArgument], given['uri']];
  return typeof server === 'string' && typeof uri === 'string' ? { resource: { server, uri } } : {};
}

/** Counts the arguments as the chat has them, with references instead of files. */
export function recordCall(
  { audit, chat }: ToolCallDeps,
  call: ToolCall,
  more: Pick<AuditEntry, 'outcome'> & Partial<AuditEntry>,
): void {
  audit?.record({
    kind: 'call',
    server: call.server,
    name: call.tool,
    chat: chat?.(),
    argumentBytes: Buffer.byteLength(JSON.stringify(call.arguments)),
    ...more,
  });
}
