import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { win32 } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import spawn from 'cross-spawn';
import { atMost, TimeSlice } from '../../base/async.ts';
import { hasCode } from '../../base/errors.ts';
import type { StdioServer } from '../config/types.ts';
import { JsonFilter } from './jsonFilter.ts';
import type { PendingRequests } from './pendingRequests.ts';

interface StdioOptions {
  readonly server: StdioServer;
  readonly requests: PendingRequests;
  /** Called with the reason when this side ends the connection. */
  readonly onLost: (reason: string) => void;
  /** Ends the process if this host is killed. */
  readonly guard?: { add(group: number): void; remove(group: number): void } | undefined;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Time to exit after stdin was closed, and again after SIGTERM. */
const GRACE_MS = 2000;
/** A killed process that is waiting for a disk exits only when the disk responds. */
const KILL_GRACE_MS = 10_000;
/** After the process exits, its output is closed when idle for this long: a grandchild could keep it open. */
const SILENCE_MS = 1000;
const MAX_QUOTED_CHARS = 200;
const NEWLINE = 0x0a;

/** A server process. Reads its lines in linear time and bounded memory: long base64 in results goes to files. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Exists before the process, so that no output is lost. */
  readonly stderr: Readable;
  /** No message is missed. */
  readonly breaks = 0;
  readonly #options: StdioOptions;
  readonly #probe = new DiscoverProbe();
  readonly #filter: JsonFilter;
  readonly #stderr = new PassThrough();
  #process: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #bytesRead = 0;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#filter = new JsonFilter(options.requests);
    this.stderr = this.#stderr;
  }

  /** Undefined while the process runs. */
  get exit(): Exit | undefined {
    const { exitCode: code = null, signalCode: signal = null } = this.#process ?? {};
    return code === null && signal === null ? undefined : { code, signal };
  }

  get lateAnswer(): LateAnswer | undefined {
    return this.#probe.lateAnswer;
  }

  /** The SDK recognizes a process transport by this and `stderr`. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error('The server process was already started.');
    const { command, args, env, cwd } = this.#options.server;
    const variables = mergeVariables(getDefaultEnvironment(), env);
    const program = process.platform === 'win32' ? findWindowsCommand(command, variables) : command;
    const child = spawn(program, [...args], {
      env: variables,
      stdio: ['pipe', 'pipe', 'pipe'],
      shell: false,
      windowsHide: true,
      // A process group, so that child processes can be ended too.
      detached: HAS_GROUPS,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#process = child;
    // Broken pipes are expected while closing.
    const report = (error: Error) => {
      if (this.#closing === undefined) this.onerror?.(error);
    };
    child.stdin?.on('error', report);
    child.stderr?.on('error', report).pipe(this.#stderr);
    if (child.pid !== undefined) this.#options.guard?.add(child.pid);
    child.on('exit', () => {
      signalGroup(child, 'SIGTERM');
      void this.#closeSilentOutput(child);
    });
    this.#ended = this.#follow(child);
    // Rejects if the process could not be started.
    await once(child, 'spawn');
    child.on('error', report);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (!stdin || this.#closing !== undefined) throw new SdkError(SdkErrorCode.NotConnected, 'Not connected');
    this.#options.requests.sent(message);
    this.#probe.sent(message);
    // A failed write is ignored: the process has exited, and its exit ends and explains all requests.
    await new Promise<void>((resolve) => stdin.write(serializeMessage(message), () => resolve()));
  }

  /** Closes stdin, then sends SIGTERM and SIGKILL. Resolves when the process is gone. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return;
    const gone = this.exit === undefined ? once(child, 'exit') : Promise.resolve();
    child.stdin?.end();
    await atMost(GRACE_MS, gone);
    for (const [signal, patienceMs] of ENDINGS) {
      if (this.exit !== undefined) break;
      signalGroup(child, signal);
      await atMost(patienceMs, gone);
    }
    signalGroup(child, 'SIGKILL');
    this.#options.guard?.remove(child.pid);
    child.stdout?.destroy();
    child.stderr?.destroy();
    await atMost(GRACE_MS, this.#ended);
  }

  /** Resolves when the process has exited and its last message was delivered. */
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
      await this.#filter.abort();
    }
  }

  async #take(chunk: Buffer): Promise<void> {
    // Keep reading: a process that cannot write may not exit.
    if (this.#closing !== undefined) return;
    this.#bytesRead += chunk.length;
    const slice = new TimeSlice();
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      await this.#filter.push(chunk.subarray(from, at));
      await this.#endLine();
      // A chunk can have thousands of lines that are not messages.
      if (slice.isOver()) await slice.pause();
      from = at + 1;
    }
    await this.#filter.push(chunk.subarray(from));
    if (this.#filter.exceedsDropLimit) {
      await this.#filter.abort();
      this.#options.onLost('it sent a line that exceeds the size limit');
      void this.close();
    }
  }

  async #endLine(): Promise<void> {
    const message = await this.#filter.end().then(
      (json) => this.#parse(json),
      (error: Error) => void this.onerror?.(error),
    );
    if (!message || this.#closing !== undefined || this.#probe.isLateAnswer(message)) return;
    this.#options.requests.received(message, () => this.onmessage?.(message));
    // The SDK handles notifications asynchronously and responses at once. Without this break, the last progress of a
    // request would be reported after its result.
    if ('method' in message) await new Promise(setImmediate);
  }

  #parse(json: Buffer): JSONRPCMessage | undefined {
    const line = json.toString('utf8');
    if (line.trim() === '') return undefined;
    try {
      return parseJSONRPCMessage(JSON.parse(line));
    } catch {
      const quoted = JSON.stringify(line.slice(0, MAX_QUOTED_CHARS));
      this.onerror?.(new Error(`The server wrote a line to stdout that is not an MCP message: ${quoted}`));
      return undefined;
    }
  }

  async #closeSilentOutput(child: ChildProcess): Promise<void> {
    for (let before = -1; before !== this.#bytesRead && child.stdout?.destroyed === false; ) {
      before = this.#bytesRead;
      await new Promise((resolve) => setTimeout(resolve, SILENCE_MS).unref());
    }
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** The answer to `server/discover` of a process that was sent `initialize` in the meantime. */
export type LateAnswer = 'pending' | 'supported' | 'unsupported';

/**
 * Tracks `server/discover`, which asks for the newer revision. A process that is slow to start finds both that request
 * and the older `initialize` in its pipe, and answers the first when the SDK no longer expects it.
 */
export class DiscoverProbe {
  #id: RequestId | undefined;
  #late: LateAnswer | undefined;

  /** Undefined when the answer arrived in time, or the request was not sent. */
  get lateAnswer(): LateAnswer | undefined {
    return this.#late;
  }

  /** Must be called for every sent message. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message)) return;
    if (message.method === 'server/discover') this.#id = message.id;
    else if (this.#id !== undefined) this.#late ??= 'pending';
  }

  /** True for the late answer, which must not reach the SDK. Must be called for every received message. */
  isLateAnswer(message: JSONRPCMessage): boolean {
    if ('method' in message || this.#id === undefined || message.id !== this.#id) return false;
    if (this.#late === undefined) {
      this.#id = undefined;
      return false;
    }
    this.#late = 'result' in message ? 'supported' : 'unsupported';
    return true;
  }
}

const HAS_GROUPS = process.platform !== 'win32';
const ENDINGS = [
  ['SIGTERM', GRACE_MS],
  ['SIGKILL', KILL_GRACE_MS],
] as const;

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (!HAS_GROUPS) endTree(child);
  if (!HAS_GROUPS || child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // The group is empty; some systems report zombie processes as EPERM.
    if (!hasCode(error, 'ESRCH', 'EPERM')) throw error;
  }
}

type Variables = Readonly<Record<string, string>>;

/** Overrides variables by name. Windows ignores case in names and would keep `PATH` instead of `Path`. */
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

/** Ends a process tree on Windows, where `npx` is a script: `kill` would end its shell and leave the server running. */
function endTree(child: ChildProcess): void {
  // The pid of a process that has exited may be reused.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  // The full path, because Windows searches the working directory first.
  const taskkill = win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe');
  const args = ['/pid', String(child.pid), '/T', '/F'];
  execFile(taskkill, args, { windowsHide: true }, (error) => {
    if (error) child.kill();
  });
}

/**
 * The program that a command on Windows means, from the PATH alone. Windows would look into the current folder first,
 * where a workspace may have an `npx.cmd` of its own. Throws like `spawn` if there is none.
 */
export function findWindowsCommand(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string {
  if (/[\\/:]/.test(command)) return command;
  const variable = (name: string) =>
    Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1] ?? '';
  const endings = (variable('PATHEXT') || '.COM;.EXE;.BAT;.CMD').split(';');
  const isProgram = endings.some((each) => each !== '' && command.toUpperCase().endsWith(each.toUpperCase()));
  const names = isProgram ? [command] : endings.map((each) => `${command}${each}`);
  const folders = variable('PATH')
    .split(';')
    .filter((folder) => win32.isAbsolute(folder));
  const found = folders.flatMap((folder) => names.map((name) => win32.join(folder, name))).find(exists);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`spawn ${command} ENOENT`), {
    code: 'ENOENT',
    syscall: `spawn ${command}`,
    path: command,
  });
}
