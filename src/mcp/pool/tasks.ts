import { setTimeout as sleep } from 'node:timers/promises';
import { defined, field, isObject } from '../../base/json.ts';
import { oneLine } from '../connection/explainFailure.ts';
import type { CallContext } from '../connection/types.ts';

/*
 * Calls that run as tasks, in both forms of the protocol: in revision 2025-11-25 the client asks for a task and requests
 * its result; with the extension `io.modelcontextprotocol/tasks` the server decides, and the state has the result.
 */

type TaskContext = Pick<CallContext, 'signal' | 'onProgress'> & {
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
};

export interface TaskRequestOptions extends Pick<CallContext, 'signal' | 'onProgress'> {
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
}

export interface FollowOptions extends TaskContext {
  /** Answers a request of the server, which may ask the user. */
  readonly answer: (method: unknown, params: unknown, signal: AbortSignal | undefined) => Promise<unknown>;
}

/** The time for which the server is asked to keep the task and its result. */
const TTL_MS = 60 * 60 * 1000;
const MIN_POLL_MS = 50;
/** Without an interval of the server, the delay doubles from the first to the last. */
const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 1000;
const MAX_POLL_MS = 30_000;
/** The limit for a task that stays in progress. */
const MAX_WAITED_MS = 24 * 60 * 60 * 1000;
const MAX_ID_CHARS = 1024;
const MAX_MESSAGE_CHARS = 500;
const MAX_INPUTS = 100;

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
  return new Task(request, options, created).run((task, state) => task.fetchResult(state));
}

/** Whether a result of `tools/call` says that the call continues as a task of the extension. */
export function isTask(result: unknown): boolean {
  return field(result, 'resultType') === 'task';
}

/** Follows a task of the extension: answers the requests of its server until it ends. Rejects as `callAsTask` does. */
export async function followTask(
  request: SendRequest,
  created: unknown,
  options: FollowOptions,
): Promise<unknown> {
  const answered = new Set<string>();
  return new Task(request, options, created).run(async (task, state) => {
    if (state.status !== 'input_required') return resultOf(state);
    await task.answerInputs(state, answered, options.answer);
    return 'continue';
  });
}

const STATUSES = ['working', 'input_required', 'completed', 'failed', 'cancelled'] as const;

interface TaskState {
  readonly status: (typeof STATUSES)[number];
  readonly message?: string;
  /** The poll interval that the server requests. */
  readonly pollMs?: number;
  /** As the server sent it. */
  readonly raw: unknown;
}

class Task {
  readonly #request: SendRequest;
  readonly #context: TaskContext;
  readonly #params: { readonly taskId: string };
  #raw: unknown;
  #lastMessage: string | undefined;

  constructor(request: SendRequest, context: TaskContext, created: unknown) {
    this.#request = request;
    this.#context = context;
    this.#params = { taskId: readTaskId(created) };
    this.#raw = created;
  }

  /** Calls `react` whenever the task is not working, until it resolves to something other than `continue`. */
  async run(react: (task: this, state: TaskState) => Promise<unknown>): Promise<unknown> {
    let hasEnded = false;
    try {
      for (let waitedMs = 0, polls = 0; ; polls += 1) {
        const state = this.#report(readTask(this.#raw));
        hasEnded = state.status !== 'working' && state.status !== 'input_required';
        const result = state.status === 'working' ? 'continue' : await react(this, state);
        if (result !== 'continue') return result;
        if (waitedMs > MAX_WAITED_MS) throw new Error('its task did not end within a day');
        waitedMs += await this.#poll(state, polls);
      }
    } catch (error) {
      // Cancel unfinished tasks; no client is waiting. A failure has no consequence.
      if (!hasEnded) this.#request('tasks/cancel', this.#params, {}).catch(() => {});
      this.#context.signal?.throwIfAborted();
      // Without its cause, which could be a reason to send the call again: the server has already accepted it.
      throw new Error((error as Error).message);
    }
  }

  /** A task that requires input requests it on the way to its result. */
  async fetchResult({ status, message }: TaskState): Promise<unknown> {
    const { signal, onProgress } = this.#context;
    const patient = status === 'input_required';
    try {
      return await this.#request('tasks/result', this.#params, { signal, onProgress, patient });
    } catch (error) {
      if (status !== 'failed' && status !== 'cancelled') throw error;
      throw new Error(`${ENDINGS[status]}: ${message ?? oneLine((error as Error).message)}`);
    }
  }

  /** The state may be outdated, so each request is answered once. */
  async answerInputs(
    { raw }: TaskState,
    answered: Set<string>,
    answer: FollowOptions['answer'],
  ): Promise<void> {
    const { signal } = this.#context;
    const inputs = field(raw, 'inputRequests');
    const asked = Object.entries(isObject(inputs) ? inputs : {}).filter(([key]) => !answered.has(key));
    for (const [key, input] of asked) {
      if (answered.size >= MAX_INPUTS)
        throw new Error(`its task required input more than ${MAX_INPUTS} times`);
      const response = await answer(field(input, 'method'), field(input, 'params'), signal);
      signal?.throwIfAborted();
      answered.add(key);
      const inputResponses = { [key]: response };
      await this.#request('tasks/update', { ...this.#params, inputResponses }, { signal });
    }
  }

  #report(state: TaskState): TaskState {
    const { message = this.#lastMessage } = state;
    if (message !== undefined && message !== this.#lastMessage) this.#context.onProgress?.({ message });
    this.#lastMessage = message;
    return state;
  }

  /** Resolves to the time that it waited. */
  async #poll({ pollMs }: TaskState, polls: number): Promise<number> {
    const { signal, wait = pause } = this.#context;
    const ms = pollMs ?? Math.min(FIRST_POLL_MS * 2 ** polls, LAST_POLL_MS);
    await wait(ms, signal);
    signal?.throwIfAborted();
    this.#raw = await this.#request('tasks/get', this.#params, { signal });
    return ms;
  }
}

const ENDINGS = { failed: 'its task failed', cancelled: 'the server cancelled its task' } as const;

/** The result of a task of the extension that has ended. */
function resultOf({ status, message, raw }: TaskState): unknown {
  const result = field(raw, 'result');
  if (status === 'completed' && isObject(result)) return result;
  if (status !== 'failed' && status !== 'cancelled') throw new Error('its task ended without a result');
  const reason = field(field(raw, 'error'), 'message');
  const why = typeof reason === 'string' ? oneLine(reason) : message;
  throw new Error(why === undefined ? ENDINGS[status] : `${ENDINGS[status]}: ${why}`);
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

function readTask(raw: unknown): TaskState {
  const given = field(raw, 'status');
  const status = STATUSES.find((each) => each === given);
  if (status === undefined) {
    const shown = oneLine((JSON.stringify(given) ?? 'nothing').slice(0, 100));
    throw new Error(
      `it reports ${shown} as the status of its task, not one such as “working” or “completed”`,
    );
  }
  const message = field(raw, 'statusMessage');
  const interval = field(raw, 'pollIntervalMs') ?? field(raw, 'pollInterval');
  const isGiven = typeof interval === 'number' && interval > 0;
  return {
    status,
    raw,
    ...defined({
      pollMs: isGiven ? Math.min(Math.max(Math.round(interval), MIN_POLL_MS), MAX_POLL_MS) : undefined,
      message:
        typeof message === 'string' && message.trim() !== ''
          ? oneLine(message.slice(0, MAX_MESSAGE_CHARS))
          : undefined,
    }),
  };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}
