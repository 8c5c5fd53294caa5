import { setTimeout as sleep } from 'node:timers/promises';
import { field, isObject } from '../../base/json.ts';
import type { ToolProgress } from '../../ports/tools.ts';

import { oneLine } from '../connection/failure.ts';

export interface TaskRequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The server answers only when the task is over, however long it is silent until then. */
  readonly patient?: boolean;
}

/** Sends one request and resolves to its result as it came. */
export type SendRequest = (
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: TaskRequestOptions,
) => Promise<unknown>;

export interface TaskOptions {
  /** Those of `tools/call`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Resolves after this time; rejects when the signal says so. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** How long the server shall keep the task and its result. */
const TTL_MS = 60 * 60 * 1000;
const MIN_POLL_MS = 50;
const DEFAULT_POLL_MS = 1000;
const MAX_POLL_MS = 30_000;
/** However often a server says that it is still working, it is not waited for any longer. */
const MAX_WAITED_MS = 24 * 60 * 60 * 1000;
const MAX_ID_CHARS = 1024;
const MAX_MESSAGE_CHARS = 500;

/**
 * Calls a tool as a task of revision 2025-11-25: starts it, asks how it is until it is over or wants an answer
 * from the user, and resolves to the raw result of the call. Rejects with the signal's reason on abort, after the
 * server was told, else with a message that can be the end of a sentence.
 */
export async function callAsTask(request: SendRequest, options: TaskOptions): Promise<unknown> {
  const { params, signal, onProgress } = options;
  signal?.throwIfAborted();
  const answer = await request('tools/call', { ...params, task: { ttl: TTL_MS } }, { signal, onProgress });
  // A server may answer at once, as if it had not been asked for a task.
  if (!isObject(answer) || answer['task'] === undefined) return answer;
  return new RunningTask(request, options).follow(answer['task']);
}

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

interface TaskState {
  readonly status: TaskStatus;
  readonly message?: string;
  readonly pollMs: number;
}

const STATUSES: ReadonlySet<unknown> = new Set<TaskStatus>([
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
]);

class RunningTask {
  readonly #request: SendRequest;
  readonly #options: TaskOptions;
  #toldMessage: string | undefined;

  constructor(request: SendRequest, options: TaskOptions) {
    this.#request = request;
    this.#options = options;
  }

  async follow(created: unknown): Promise<unknown> {
    const { signal } = this.#options;
    const taskId = readTaskId(created);
    let state: TaskState | undefined;
    try {
      state = await this.#awaitTurn(taskId, created);
      return await this.#askResult(taskId, state);
    } catch (error) {
      // What is over cannot be called off; everything else would go on for nobody.
      if (state === undefined || state.status === 'input_required') this.#cancel(taskId);
      signal?.throwIfAborted();
      throw error;
    }
  }

  /** Resolves when the task is over, or when it waits for something that only asking for its result delivers. */
  async #awaitTurn(taskId: string, created: unknown): Promise<TaskState> {
    const { signal, wait = pause } = this.#options;
    let state = this.#read(created);
    for (let waitedMs = 0; state.status === 'working'; waitedMs += state.pollMs) {
      if (waitedMs > MAX_WAITED_MS) throw new Error('its task did not end within a day');
      await wait(state.pollMs, signal);
      signal?.throwIfAborted();
      state = this.#read(await this.#request('tasks/get', { taskId }, { signal }));
    }
    return state;
  }

  async #askResult(taskId: string, { status, message }: TaskState): Promise<unknown> {
    const { signal, onProgress } = this.#options;
    const patient = status === 'input_required';
    try {
      return await this.#request('tasks/result', { taskId }, { signal, onProgress, patient });
    } catch (error) {
      if (status !== 'failed' && status !== 'cancelled') throw error;
      const verb = status === 'failed' ? 'its task failed' : 'the server called its task off';
      throw new Error(`${verb}: ${message ?? oneLine((error as Error).message)}`, { cause: error });
    }
  }

  /** Nobody waits for the answer, because there is nothing left to do about it. */
  #cancel(taskId: string): void {
    this.#request('tasks/cancel', { taskId }, {}).catch(() => {});
  }

  #read(task: unknown): TaskState {
    const state = readTask(task);
    if (state.message !== undefined && state.message !== this.#toldMessage) {
      this.#toldMessage = state.message;
      this.#options.onProgress?.({ message: state.message });
    }
    return state;
  }
}

function readTaskId(task: unknown): string {
  const id = field(task, 'taskId');
  if (typeof id !== 'string' || id === '') {
    throw new Error('it started a task without an id, so its result cannot be asked for');
  }
  if (id.length > MAX_ID_CHARS) {
    throw new Error(`it started a task whose id has ${id.length} characters, which is too long`);
  }
  return id;
}

function readTask(task: unknown): TaskState {
  const status = field(task, 'status');
  if (!STATUSES.has(status)) {
    const said = oneLine((JSON.stringify(status) ?? 'nothing').slice(0, 100));
    throw new Error(`it says ${said} about its task, where “working” or “completed” is expected`);
  }
  const message = field(task, 'statusMessage');
  const interval = field(task, 'pollInterval');
  const pollMs = typeof interval === 'number' && interval > 0 ? interval : DEFAULT_POLL_MS;
  return {
    status: status as TaskStatus,
    pollMs: Math.min(Math.max(Math.round(pollMs), MIN_POLL_MS), MAX_POLL_MS),
    ...(typeof message === 'string' && message.trim() !== ''
      ? { message: oneLine(message.slice(0, MAX_MESSAGE_CHARS)) }
      : {}),
  };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal ? { signal } : {});
}
