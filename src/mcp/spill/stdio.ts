import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { win32 } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import spawn from 'cross-spawn';
import { atMost } from '../../base/async.ts';
import type { StdioServer } from '../config/types.ts';

import { DiscoverProbe, type LateAnswer } from '../connection/clientSetup.ts';
import { Arrival, PendingRequests, tooLargeAnswer } from './calls.ts';
import { JsonFilter, MAX_DROPPED_BYTES, MAX_MESSAGE_BYTES } from './jsonFilter.ts';

export interface StdioOptions {
  readonly server: StdioServer;
  /** Told why this side had to end the connection. */
  readonly onLost: (reason: string) => void;
  readonly minSpilledChars?: number | undefined;
  /** Ends the process when we cannot. */
  readonly guard?: { add(group: number): void; remove(group: number): void } | undefined;
  readonly maxMessageBytes?: number | undefined;
  readonly maxDroppedBytes?: number | undefined;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How long a process may take to end after its stdin was closed, and again after SIGTERM. */
const PATIENCE_MS = 2000;
/** Nothing survives SIGKILL, but a process that waits for a disk is gone only after that. */
const LAST_PATIENCE_MS = 10_000;
/** How long the output of a process that has ended may be silent; a grandchild can keep it open for ever. */
const SILENCE_MS = 1000;
const MAX_QUOTED_CHARS = 200;
const NEWLINE = 0x0a;

/**
 * A server that is a process. Reads its lines in time that grows with their length, and memory that does not:
 * long base64 in answers goes to files.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** There before the process is, so that nothing of what it says is lost. */
  readonly stderr: Readable;
  readonly #options: StdioOptions;
  readonly #calls = new PendingRequests();
  readonly #probe = new DiscoverProbe();
  readonly #filter: JsonFilter;
  readonly #arrival = new Arrival(this.#calls, () => this.#filter.id);
  readonly #stderr = new PassThrough();
  #process: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #bytesRead = 0;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#filter = new JsonFilter({ ...options, tables: this.#calls });
    this.stderr = this.#stderr;
  }

  /** Nothing while the process lives. */
  get exit(): Exit | undefined {
    const { exitCode: code = null, signalCode: signal = null } = this.#process ?? {};
    return code === null && signal === null ? undefined : { code, signal };
  }

  get lateAnswer(): LateAnswer | undefined {
    return this.#probe.lateAnswer;
  }

  /** By this and `stderr` the SDK knows that a process is behind it. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error('The process was started already.');
    const { command, args, env, cwd } = this.#options.server;
    const child = spawn(command, [...args], {
      env: mergeVariables(getDefaultEnvironment(), env),
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      windowsHide: true,
      // A group of its own, so that what the process has started can be ended with it.
      detached: HAS_GROUPS,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#process = child;
    // While it is being closed, a pipe that breaks is no news.
    const report = (error: Error) => {
      if (this.#closing === undefined) this.onerror?.(error);
    };
    child.stdin?.on('error', report);
    child.stderr?.on('error', report).pipe(this.#stderr);
    if (child.pid !== undefined) this.#options.guard?.add(child.pid);
    child.on('exit', () => {
      signalGroup(child, 'SIGTERM');
      void this.#endSilence(child);
    });
    this.#ended = this.#follow(child);
    // Rejects with the error of a process that could not be started.
    await once(child, 'spawn');
    child.on('error', report);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (!stdin || this.#closing !== undefined) throw new SdkError(SdkErrorCode.NotConnected, 'Not connected');
    this.#calls.sent(message);
    this.#probe.sent(message);
    // A failed write is no failed request: the process has ended then, which ends all requests and is explained.
    await new Promise<void>((resolve) => stdin.write(serializeMessage(message), () => resolve()));
  }

  /** Asks the process to end, then makes it. Resolves when it is gone. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return;
    const gone = this.exit === undefined ? once(child, 'exit') : Promise.resolve();
    child.stdin?.end();
    await atMost(PATIENCE_MS, gone);
    for (const [signal, patienceMs] of ENDINGS) {
      if (this.exit !== undefined) break;
      signalGroup(child, signal);
      await atMost(patienceMs, gone);
    }
    // Whatever it has started ends with it.
    signalGroup(child, 'SIGKILL');
    this.#options.guard?.remove(child.pid);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await atMost(PATIENCE_MS, this.#ended);
  }

  /** Resolves when the process is gone and its last message was delivered. */
  async #follow(child: ChildProcess): Promise<void> {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    if (child.stdout) await this.#read(child.stdout);
    await closed;
    this.#stderr.end();
    this.onclose?.();
  }

  async #read(stdout: Readable): Promise<void> {
    try {
      for await (const chunk of stdout) await this.#take(chunk as Buffer);
    } catch (error) {
      if (this.#closing === undefined) this.onerror?.(error as Error);
    } finally {
      this.#arrival.end();
      await this.#filter.abort();
    }
  }

  async #take(chunk: Buffer): Promise<void> {
    // Still read, because a process that cannot write may not end.
    if (this.#closing !== undefined) return;
    this.#bytesRead += chunk.length;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      await this.#filter.push(chunk.subarray(from, at));
      await this.#endLine();
      from = at + 1;
    }
    await this.#filter.push(chunk.subarray(from));
    this.#arrival.add(chunk.length - from);
    if (this.#filter.dropped > (this.#options.maxDroppedBytes ?? MAX_DROPPED_BYTES)) {
      await this.#filter.abort();
      this.#options.onLost('it sent a line without an end');
      void this.close();
    }
  }

  async #endLine(): Promise<void> {
    const filtered = await this.#filter.end();
    this.#arrival.end();
    const message = filtered.kind === 'message' ? this.#parse(filtered.json) : this.#refuse(filtered.id);
    if (message === undefined || this.#closing !== undefined || this.#probe.isLateAnswer(message)) return;
    this.#calls.received(message);
    this.onmessage?.(message);
    // The protocol layer handles notifications a moment later, and answers at once: without a break, the last
    // progress of a call would be told after its end.
    if ('method' in message) await new Promise(setImmediate);
  }

  #parse(json: Buffer): JSONRPCMessage | undefined {
    const line = json.toString('utf8');
    if (line.trim() === '') return undefined;
    try {
      return parseJSONRPCMessage(JSON.parse(line));
    } catch {
      const quoted = JSON.stringify(line.slice(0, MAX_QUOTED_CHARS));
      this.onerror?.(new Error(`A line on its stdout is no message of the protocol: ${quoted}`));
      return undefined;
    }
  }

  #refuse(idInMessage: number | undefined): JSONRPCMessage | undefined {
    const maxBytes = this.#options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    const id = idInMessage ?? this.#calls.only;
    if (id !== undefined) return tooLargeAnswer(id, maxBytes);
    this.onerror?.(new Error(`A message of more than ${maxBytes} bytes was dropped.`));
    return undefined;
  }

  async #endSilence(child: ChildProcess): Promise<void> {
    for (let before = -1; before !== this.#bytesRead && child.stdout?.destroyed === false; ) {
      before = this.#bytesRead;
      await new Promise((resolve) => setTimeout(resolve, SILENCE_MS).unref());
    }
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

const HAS_GROUPS = process.platform !== 'win32';
const ENDINGS = [
  ['SIGTERM', PATIENCE_MS],
  ['SIGKILL', LAST_PATIENCE_MS],
] as const;

/** To the process and all that it has started. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (!HAS_GROUPS) endTree(child);
  if (!HAS_GROUPS || child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // Nobody is left in the group; some systems say EPERM of those that have ended and were not fetched yet.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

type Variables = Readonly<Record<string, string>>;

/** Replaces variables by those of the same name. Windows compares names without case and would keep `PATH`, not `Path`. */
export function mergeVariables(
  base: Variables,
  own: Variables,
  platform: NodeJS.Platform = process.platform,
): Variables {
  if (platform !== 'win32') return { ...base, ...own };
  const replaced = new Set(Object.keys(own).map((name) => name.toUpperCase()));
  const kept = Object.entries(base).filter(([name]) => !replaced.has(name.toUpperCase()));
  return { ...Object.fromEntries(kept), ...own };
}

/**
 * Ends a process on Windows with everything that it has started. `npx` is a script there, so that `kill` would end its
 * shell and leave the server running.
 */
function endTree(child: ChildProcess): void {
  // The number of a process that has ended may belong to another one.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  // By its whole path: Windows would look into the working directory first.
  const taskkill = win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe');
  const args = ['/pid', String(child.pid), '/T', '/F'];
  execFile(taskkill, args, { windowsHide: true }, (error) => {
    if (error) child.kill();
  });
}
