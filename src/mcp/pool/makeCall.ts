import { isDeepStrictEqual } from 'node:util';
import {
  InsufficientScopeError,
  ProtocolError,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import type { AskedBy, ServerRequests } from '../../ports/servers.ts';
import type { ToolCall, ToolInfo } from '../../ports/tools.ts';
import type { CallContext } from '../connection/types.ts';
import { readElicitation } from '../requests/elicitation.ts';
import { paramHeaders, scanParamHeaders } from './paramHeaders.ts';
import type { RunningServer } from './slot.ts';
import { callAsTask, followTask, isTask, type SendRequest } from './tasks.ts';

export interface CallDeps extends CallContext {
  readonly running: RunningServer;
  /** Lists the tools of the server again. */
  readonly relist: () => Promise<unknown>;
  readonly requests: ServerRequests;
  readonly askedBy: AskedBy;
  readonly timeoutMs: number;
}

const MAX_TASK_MS = 60 * 60 * 1000;
const NEVER = new Promise<never>(() => {});
/** The headers of a call do not match its arguments: our list of tools is outdated. */
const HEADER_MISMATCH = -32_020;

/**
 * Sends a call a second time only if the server has reported that it did not run it: because the user has to visit a URL
 * first, or because scopes or headers were missing.
 */
export async function makeCall(call: ToolCall, deps: CallDeps): Promise<unknown> {
  try {
    return await send(call, deps);
  } catch (error) {
    if (!(await prepareRetry(call, (error as Error).cause, deps))) throw error;
    return send(call, deps);
  }
}

async function send(call: ToolCall, deps: CallDeps): Promise<unknown> {
  const { running, timeoutMs, signal, onProgress, spills } = deps;
  const { connection } = running;
  // The definition tells whether the call is a task and which headers it has.
  if (!running.tools.has(call.tool) && connection.offers.tools) await deps.relist();
  const tool = running.tools.get(call.tool);
  const scan = connection.mirrorsHeaders && tool ? scanParamHeaders(tool.inputSchema) : undefined;
  const headers = scan?.ok ? paramHeaders(scan.declarations, call.arguments) : undefined;
  const params = { name: call.tool, arguments: call.arguments };
  const request: SendRequest = (method, sent, { patient = false, ...own }) =>
    connection.request(method, sent, { ...own, spills, timeoutMs: patient ? MAX_TASK_MS : timeoutMs });
  const context = { signal, onProgress };
  if (connection.takesTask(tool?.task)) return callAsTask(request, { ...context, params });
  const result = await connection.request('tools/call', params, { ...context, timeoutMs, spills, headers });
  if (connection.era === 'legacy' || !isTask(result)) return result;
  return followTask(request, result, { ...context, answer: (...asked) => connection.answer(...asked) });
}

/** Resolves to true when the call can be sent again. */
async function prepareRetry(call: ToolCall, cause: unknown, deps: CallDeps): Promise<boolean> {
  const { running, signal } = deps;
  const { connection, authorization } = running;
  if (cause instanceof InsufficientScopeError && authorization) {
    const granted = authorization.stepUp(cause, signal ?? new AbortController().signal);
    return connection.pauseTimersWhile(granted);
  }
  if (cause instanceof UrlElicitationRequiredError) return connection.pauseTimersWhile(visitAll(cause, deps));
  const isMismatch = cause instanceof ProtocolError && cause.code === HEADER_MISMATCH;
  return connection.mirrorsHeaders && isMismatch ? relistSame(call, deps) : false;
}

/** The user has allowed the tool as it was, so only its headers may differ. */
async function relistSame(call: ToolCall, { running, relist }: CallDeps): Promise<boolean> {
  const before = running.tools.get(call.tool);
  await relist();
  const after = running.tools.get(call.tool);
  return isDeepStrictEqual(withoutHeaders(before), withoutHeaders(after));
}

function withoutHeaders(tool: ToolInfo | undefined): unknown {
  const drop = (key: string, value: unknown) => (key === 'x-mcp-header' ? undefined : value);
  return tool && JSON.parse(JSON.stringify(tool, drop));
}

/** Resolves to true when the user has visited each URL and completed the elicitation. */
async function visitAll(error: UrlElicitationRequiredError, deps: CallDeps): Promise<boolean> {
  const { requests, askedBy, running, signal = new AbortController().signal } = deps;
  if (!requests.elicit) return false;
  for (const params of error.elicitations) {
    const elicitation = readElicitation(params);
    if (elicitation.kind !== 'url') return false;
    // Subscribes before asking the user, who may answer quickly.
    const ended = new AbortController();
    const done = running.connection.elicitationDone(
      params.elicitationId,
      AbortSignal.any([signal, ended.signal]),
    );
    // Avoids an unhandled rejection if the connection is lost before this is awaited.
    done.catch(() => {});
    try {
      const answer = await requests.elicit(elicitation, askedBy, signal);
      if (answer.action !== 'accept') return false;
      // Not every server reports completion, so the user can confirm it, too.
      const confirmed = requests.visited?.(elicitation, askedBy, AbortSignal.any([signal, ended.signal]));
      if ((await Promise.race([done, confirmed ?? NEVER])) === false) return false;
    } finally {
      ended.abort();
    }
  }
  return true;
}
