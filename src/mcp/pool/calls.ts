import { isDeepStrictEqual } from 'node:util';
import {
  InsufficientScopeError,
  ProtocolError,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import type { AskedBy, ServerRequests } from '../../ports/requests.ts';
import type { ToolCall, ToolInfo, ToolProgress } from '../../ports/tools.ts';

import { readElicitation } from '../requests/elicitation.ts';
import type { SpillTable } from '../spill/table.ts';
import { paramHeaders, scanParamHeaders } from './paramHeaders.ts';
import type { RunningServer } from './pool.ts';
import { callAsTask, type SendRequest } from './tasks.ts';

export interface CallDeps {
  readonly running: RunningServer;
  /** Asks the server for its tools anew. */
  readonly relist: () => Promise<unknown>;
  readonly requests: ServerRequests;
  readonly askedBy: AskedBy;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly spills?: SpillTable | undefined;
}

/** A task may be silent for as long as a call may last. */
const MAX_TASK_MS = 60 * 60 * 1000;
/** For who cannot be asked. */
const NEVER = new Promise<never>(() => {});
/** The header of a call says something else than its arguments: our list of tools is old. */
const HEADER_MISMATCH = -32_020;

/**
 * Makes one call. It is sent a second time only when the server has said that it did nothing yet: because it wants
 * the user to go to an address first, wants more rights, or wants other headers.
 */
export async function makeCall(call: ToolCall, parts: CallDeps): Promise<unknown> {
  try {
    return await send(call, parts);
  } catch (error) {
    if (!(await prepareAgain(call, (error as Error).cause, parts))) throw error;
    return send(call, parts);
  }
}

async function send(call: ToolCall, parts: CallDeps): Promise<unknown> {
  const { running, timeoutMs, signal, onProgress, spills } = parts;
  const { connection } = running;
  // Whether the call is a task, and which headers it has, is in the tool's definition.
  if (!running.tools.has(call.tool) && connection.offers.tools) await parts.relist();
  const tool = running.tools.get(call.tool);
  const scan = connection.mirrorsHeaders && tool ? scanParamHeaders(tool.inputSchema) : undefined;
  const headers = scan?.ok ? paramHeaders(scan.declarations, call.arguments) : undefined;
  const options = { timeoutMs, signal, onProgress, spills, headers };
  const params = { name: call.tool, arguments: call.arguments };
  if (connection.era === 'legacy' && tool?.task === 'required') {
    const request: SendRequest = (method, sent, { patient = false, ...own }) =>
      connection.request(method, sent, {
        ...own,
        timeoutMs: patient ? MAX_TASK_MS : timeoutMs,
        ...(method === 'tasks/get' ? {} : { spills }),
      });
    return callAsTask(request, { params, signal, onProgress });
  }
  return connection.request('tools/call', params, options);
}

/** Whether another try makes sense, after what was needed for it. */
async function prepareAgain(call: ToolCall, cause: unknown, parts: CallDeps): Promise<boolean> {
  const { running, signal } = parts;
  const { connection, authorization } = running;
  if (cause instanceof InsufficientScopeError && authorization) {
    const asked = authorization.stepUp(cause, signal ?? new AbortController().signal);
    return connection.pauseTimersWhile(asked);
  }
  if (cause instanceof UrlElicitationRequiredError)
    return connection.pauseTimersWhile(visitAll(cause, parts));
  const isMismatch = cause instanceof ProtocolError && cause.code === HEADER_MISMATCH;
  return connection.mirrorsHeaders && isMismatch ? relistSame(call, parts) : false;
}

/** The user has agreed to the tool as it was: with other headers it may be called, as another tool it may not. */
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

/** The user goes to each address; the call is made again when the server says that all is done. */
async function visitAll(error: UrlElicitationRequiredError, parts: CallDeps): Promise<boolean> {
  const { requests, askedBy, running, signal = new AbortController().signal } = parts;
  if (!requests.elicit) return false;
  for (const params of error.elicitations) {
    const elicitation = readElicitation(params);
    if (elicitation.kind !== 'url') return false;
    // Before the user goes there, who may be quick.
    const ended = new AbortController();
    const done = running.connection.elicitationDone(
      params.elicitationId,
      AbortSignal.any([signal, ended.signal]),
    );
    // The server may be lost while the user is asked, when nobody waits for this yet.
    done.catch(() => {});
    try {
      const answer = await requests.elicit(elicitation, askedBy, signal);
      if (answer.action !== 'accept') return false;
      // Not every server says when it is done, so the user may say it too.
      const said = requests.visited?.(elicitation, askedBy, AbortSignal.any([signal, ended.signal]));
      if ((await Promise.race([done, said ?? NEVER])) === false) return false;
    } finally {
      ended.abort();
    }
  }
  return true;
}
