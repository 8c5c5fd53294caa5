import {
  InsufficientScopeError,
  ProtocolError,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import type { AskedBy, ServerRequests, ToolCall, ToolProgress } from '../ports.ts';
import { paramHeaders, scanParamHeaders } from './paramHeaders.ts';
import { readElicitation } from './requests/elicitationWire.ts';
import type { RunningServer } from './serverPool.ts';
import type { SpillTable } from './spill/spillTable.ts';
import { callAsTask, type SendRequest } from './tasks.ts';
import { unlessAborted } from './waiting.ts';

export interface CallParts {
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
/** The header of a call says something else than its arguments: our list of tools is old. */
const HEADER_MISMATCH = -32_020;

/**
 * Makes one call. It is sent a second time only when the server has said that it did nothing yet: because it wants
 * the user to go to an address first, wants more rights, or wants other headers.
 */
export async function makeCall(call: ToolCall, parts: CallParts): Promise<unknown> {
  try {
    return await send(call, parts);
  } catch (error) {
    if (!(await prepareAgain((error as Error).cause, parts))) throw error;
    return send(call, parts);
  }
}

async function send(call: ToolCall, parts: CallParts): Promise<unknown> {
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
async function prepareAgain(cause: unknown, parts: CallParts): Promise<boolean> {
  const { running, signal } = parts;
  const { connection, authorization } = running;
  if (cause instanceof InsufficientScopeError && authorization) {
    const asked = authorization.stepUp(cause, signal ?? new AbortController().signal);
    return connection.whileAsking(asked);
  }
  if (cause instanceof UrlElicitationRequiredError) return connection.whileAsking(visitAll(cause, parts));
  if (cause instanceof ProtocolError && cause.code === HEADER_MISMATCH) {
    await parts.relist();
    return true;
  }
  return false;
}

/** The user goes to each address; the call is made again when the server says that all is done. */
async function visitAll(error: UrlElicitationRequiredError, parts: CallParts): Promise<boolean> {
  const { requests, askedBy, running, signal = new AbortController().signal } = parts;
  if (!requests.elicit) return false;
  for (const params of error.elicitations) {
    const elicitation = readElicitation(params);
    if (elicitation.kind !== 'url') return false;
    const done = running.connection.elicitationDone(params.elicitationId);
    const answer = await requests.elicit(elicitation, askedBy, signal);
    if (answer.action !== 'accept') return false;
    await unlessAborted(done, signal);
  }
  return true;
}
