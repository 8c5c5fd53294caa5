/** Processes and folders that are gone when the test run is, however it ends. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface RunningProcess {
  /** Resolves to the exit code, or to the name of the signal that ended it. */
  readonly exited: Promise<number | string>;
  /** Everything it printed so far. */
  output(): string;
  /** Ends it with all the processes it started. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const isWindows = process.platform === 'win32';
const stopGraceMs = 3_000;

/** Starts a program in a process group of its own, which never outlives this process. */
export function startProcess(
  file: string,
  args: readonly string[],
  options: ProcessOptions = {},
): RunningProcess {
  const child = spawn(file, [...args], spawnOptions(file, options));
  const output = collectOutput(child);
  const killNow = () => signalGroup(child, 'SIGKILL');
  const guard = startGuard(child.pid);
  const keepOnExit = onExitOfThisProcess(killNow);
  const forget = () => {
    guard?.kill('SIGKILL');
    keepOnExit();
  };
  const exited = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  }).finally(forget);
  // Whoever cares awaits `exited` itself; a program that cannot start must not crash the run before that.
  exited.catch(() => undefined);
  return {
    exited,
    output,
    async stop() {
      signalGroup(child, 'SIGTERM');
      await Promise.race([exited.catch(() => undefined), delay(stopGraceMs, undefined, { ref: false })]);
      killNow();
      forget();
    },
  };
}

/** Runs a program to its end and resolves to what it printed; rejects with that when it fails. */
export async function runProcess(
  file: string,
  args: readonly string[],
  options: ProcessOptions & { readonly timeoutMs: number },
): Promise<string> {
  const running = startProcess(file, args, options);
  const timeout = new AbortController();
  try {
    const end = await Promise.race([
      running.exited,
      delay(options.timeoutMs, `timed out after ${options.timeoutMs / 1000} s`, { signal: timeout.signal }),
    ]);
    if (end !== 0) throw new Error(`${file} ${args.join(' ')}: ${end}\n${running.output().slice(-4_000)}`);
    return running.output();
  } finally {
    timeout.abort();
    await running.stop();
  }
}

/** Asks again until the answer is not undefined. */
export async function waitFor<T>(
  what: string,
  timeoutMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs / 1000} s for ${what}.`);
    await delay(20);
  }
}

/** Resolves when this process, which need not be a child of ours, has ended. */
export async function processEnd(pid: number): Promise<void> {
  await waitFor(`the end of process ${pid}`, 30_000, async () => !isAlive(pid) || undefined);
}

/** Whether there is a process with this id. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export interface TemporaryFolder {
  readonly path: string;
  dispose(): void;
}

/** The real path, because macOS keeps its temporary folder behind a link and editors show the target. */
export function createTemporaryFolder(name: string, parent = tmpdir()): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(parent, `filechat-${name}-`)));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  const forget = onExitOfThisProcess(remove);
  return {
    path,
    dispose() {
      forget();
      remove();
    },
  };
}

function spawnOptions(file: string, { cwd, env }: ProcessOptions): SpawnOptions {
  return {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own on POSIX, so that one signal reaches the grandchildren too.
    detached: !isWindows,
    // Node starts .cmd files, such as npm and code are on Windows, only through the shell.
    shell: isWindows && !file.endsWith('.exe'),
  };
}

function collectOutput(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return () => output;
}

function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  if (isWindows) {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F']);
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The whole group has ended already.
  }
}

/** Ends the group when this process is killed outright: the guard sees it by the end of their pipe. */
function startGuard(pid: number | undefined): ChildProcess | undefined {
  if (isWindows || pid === undefined) return undefined;
  const script = `process.stdin.on('end', () => process.kill(-${pid}, 'SIGKILL')).resume()`;
  return spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
}

/** A signal ends Node without its exit event, so the signals are turned into an orderly exit first. */
function onExitOfThisProcess(action: () => void): () => void {
  const exitOn = {
    SIGINT: () => process.exit(130),
    SIGTERM: () => process.exit(143),
    SIGHUP: () => process.exit(129),
  };
  // Each running process adds its own.
  process.setMaxListeners(0);
  process.once('exit', action);
  for (const [signal, exit] of Object.entries(exitOn)) process.once(signal, exit);
  return () => {
    process.off('exit', action);
    for (const [signal, exit] of Object.entries(exitOn)) process.off(signal, exit);
  };
}
