import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  InsufficientScopeError,
  ProtocolError,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { field } from '../../base/json.ts';
import type { AskedBy, ServerRequests } from '../../ports/servers.ts';
import type { ToolCall, ToolInfo } from '../../ports/tools.ts';
import type { CallContext } from '../connection/connection.ts';
import { oneLine } from '../connection/failure.ts';
import { readElicitation } from '../requests/elicitation.ts';
import { paramHeaders, scanParamHeaders } from './paramHeaders.ts';
import type { RunningServer } from './pool.ts';

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

type TaskContext = Pick<CallContext, 'signal' | 'onProgress'>;

export interface TaskRequestOptions extends TaskContext {
  /** The response arrives only when the task ends, without any activity before that. */
  readonly patient?: boolean;
}

/** Sends one request and resolves to its raw result. */
export type SendRequest = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: TaskRequestOptions,
) => Promise<unknown>;

export interface TaskOptions extends TaskContext {
  /** The parameters of `tools/call`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The time for which the server is asked to keep the task and its result. */
const TTL_MS = 60 * 60 * 1000;
const MIN_POLL_MS = 50;
const DEFAULT_POLL_MS = 1000;
const MAX_POLL_MS = 30_000;
/** The limit for a task that stays in progress. */
const MAX_WAITED_MS = 24 * 60 * 60 * 1000;
const MAX_ID_CHARS = 1024;
const MAX_MESSAGE_CHARS = 500;

/**
 * Calls a tool as a task of revision 2025-11-25: starts it, polls it until it ends or requires input, and resolves to the
 * raw result. On abort it cancels the task and rejects with the signal's reason; other errors end a sentence.
 */
export async function callAsTask(request: SendRequest, options: TaskOptions): Promise<unknown> {
  const { params, signal, onProgress } = options;
  signal?.throwIfAborted();
  const answer = await request('tools/call', { ...params, task: { ttl: TTL_MS } }, { signal, onProgress });
  // A server may ignore the task parameter and return the result.
  const created = field(answer, 'task');
  if (created === undefined) return answer;
  const taskId = readTaskId(created);
  let state: TaskState | undefined;
  try {
    state = await pollTask(request, options, taskId, created);
    return await fetchTaskResult(request, options, taskId, state);
  } catch (error) {
    // Cancel unfinished tasks; no client is waiting. A failure has no consequence.
    if (state === undefined || state.status === 'input_required') {
      request('tasks/cancel', { taskId }, {}).catch(() => {});
    }
    signal?.throwIfAborted();
    throw error;
  }
}

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const;

interface TaskState {
  readonly status: (typeof STATUSES)[number];
  readonly message?: string;
  readonly pollMs: number;
}

/** Resolves when the task has ended or requires input, which the server requests during `tasks/result`. */
async function pollTask(
  request: SendRequest,
  { signal, onProgress, wait = pause }: TaskOptions,
  taskId: string,
  created: unknown,
): Promise<TaskState> {
  let lastMessage: string | undefined;
  let task = created;
  for (let waitedMs = 0; ; ) {
    const state = readTask(task);
    const { status, message, pollMs } = state;
    if (message !== undefined && message !== lastMessage) onProgress?.({ message });
    lastMessage = message ?? lastMessage;
    if (status !== 'working') return state;
    if (waitedMs > MAX_WAITED_MS) throw new Error('its task did not end within a day');
    await wait(pollMs, signal);
    signal?.throwIfAborted();
    task = await request('tasks/get', { taskId }, { signal });
    waitedMs += pollMs;
  }
}

async function fetchTaskResult(
  request: SendRequest,
  { signal, onProgress }: TaskOptions,
  taskId: string,
  { status, message }: TaskState,
): Promise<unknown> {
  const patient = status === 'input_required';
  try {
    return await request('tasks/result', { taskId }, { signal, onProgress, patient });
  } catch (error) {
    if (status !== 'failed' && status !== 'cancelled') throw error;
    const verb = status === 'failed' ? 'its task failed' : 'the server cancelled its task';
    throw new Error(`${verb}: ${message ?? oneLine((error as Error).message)}`, { cause: error });
  }
}

function readTaskId(task: unknown): string {
  const id = field(task, 'taskId');
  if (typeof id !== 'string' || id === '') {
    throw new Error('it started a task without an id, so its result cannot be requested');
  }
  if (id.length > MAX_ID_CHARS) {
    throw new Error(`it started a task with an id of ${id.length} characters, which is too long`);
  }
  return id;
}

function readTask(task: unknown): TaskState {
  const given = field(task, 'status');
  const status = STATUSES.find((each) => each === given);
  if (status === undefined) {
    const shown = oneLine((JSON.stringify(given) ?? 'nothing').slice(0, 100));
    throw new Error(
      `it reports ${shown} as the status of its task, not one such as “working” or “completed”`,
    );
  }
  const message = field(task, 'statusMessage');
  const interval = field(task, 'pollInterval');
  const pollMs = typeof interval === 'number' && interval > 0 ? interval : DEFAULT_POLL_MS;
  return {
    status,
    pollMs: Math.min(Math.max(Math.round(pollMs), MIN_POLL_MS), MAX_POLL_MS),
    ...(typeof message === 'string' &&
      message.trim() !== '' && { message: oneLine(message.slice(0, MAX_MESSAGE_CHARS)) }),
  };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}
