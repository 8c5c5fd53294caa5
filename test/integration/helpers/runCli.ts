import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { showInvisible } from '../../../src/chat/format/escapeMarkers.ts';
import { main } from '../../../src/cli/main.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { type RecordedLife, readRecord, recordedSample, repositoryPath } from './sampleServer.ts';

export interface CliEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Checks the given expectations; a failure shows the whole output. */
export function checkEnd(end: CliEnd, expected: Partial<CliEnd>): CliEnd {
  assert.deepEqual(end, { ...end, ...expected });
  return end;
}

export interface RunningCli {
  readonly process: ChildProcess;
  readonly ended: Promise<CliEnd>;
  /** Resolves when its stderr matches. Call it before there is any output. */
  said(pattern: RegExp): Promise<void>;
}

/** A folder in which the command line works: an `mcp.json` with the sample server, and chats. */
export interface CliFolder {
  readonly path: string;
  /** In this process, with this folder as the current one and its environment: a test runs one command at a time. */
  run(...args: string[]): Promise<CliEnd>;
  start(args: readonly string[], options?: StartOptions): RunningCli;
  /** Writes a chat with exactly this text or these bytes. */
  write(name: string, content: string | Uint8Array): Promise<void>;
  read(name: string): Promise<string>;
  readBytes(name: string): Promise<Buffer>;
  /** Each start of the sample server so far. */
  servers(): readonly RecordedLife[];
}

export interface StartOptions {
  readonly detached?: boolean;
  /** On top of this process's own and the folder's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than this process's own, and its flags. */
  readonly node?: readonly [program: string, ...flags: string[]];
  /** Gives it an input to write to. */
  readonly withInput?: boolean;
}

export const MCP_JSON = 'mcp.json';

/** Each run gets the given environment on top of this process's own. */
export async function createCliFolder(
  t: TestContext,
  given: Readonly<Record<string, string>> = {},
): Promise<CliFolder> {
  const folder = temporaryFolder(t);
  const path = join(folder, 'work');
  const record = join(folder, 'record');
  const at = (name: string) => join(path, name);
  await mkdir(path);
  await writeFile(at(MCP_JSON), JSON.stringify({ servers: configureServers(record) }));
  // What is remembered between runs stays in the folder of the test.
  const state = join(folder, 'state');
  const env = { XDG_STATE_HOME: state, LOCALAPPDATA: state, ...given };
  const start: CliFolder['start'] = (args, options = {}) => {
    const running = startCli(args, path, { ...options, env: { ...env, ...options.env } });
    // Only where a test has failed is there anything left to kill.
    t.after(() => running.process.kill('SIGKILL'));
    return running;
  };
  return {
    path,
    start,
    run: (...args) => runMain(args, path, env),
    write: (name, content) => writeFile(at(name), content),
    read: (name) => readFile(at(name), 'utf8'),
    readBytes: (name) => readFile(at(name)),
    servers: () => readRecord(record),
  };
}

function configureServers(record: string) {
  const { command, args } = recordedSample(record);
  return {
    sample: { command, args },
    broken: { command, args: ['-e', 'console.error("The licence has run out."); process.exit(3)'] },
    absent: { command: 'filechat-no-such-program' },
  };
}

/** Without a terminal, as in a script. */
async function runMain(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<CliEnd> {
  const written = { stdout: '', stderr: '' };
  const writeTo = (stream: keyof typeof written) => (text: string) => {
    written[stream] += `${showInvisible(text.trimEnd())}\n`;
  };
  const before = process.cwd();
  const environment = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  process.chdir(folder);
  Object.assign(process.env, env);
  try {
    const code = await main(args, {
      out: writeTo('stdout'),
      err: writeTo('stderr'),
      ask: undefined,
      version: '',
      signal: new AbortController().signal,
    });
    return { code, ...written };
  } finally {
    process.chdir(before);
    for (const [name, value] of Object.entries(environment)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

function startCli(
  args: readonly string[],
  cwd: string,
  { detached = false, env = {}, node = [process.execPath], withInput = false }: StartOptions,
): RunningCli {
  const cli = repositoryPath('dist/cli.js');
  if (!existsSync(cli)) throw new Error('dist/cli.js is missing. Run “npm run build” before these tests.');
  const [program, ...flags] = node;
  const child = spawn(program, [...flags, cli, ...args], {
    cwd,
    detached,
    env: { ...process.env, ...env },
    stdio: [withInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    timeout: endTimeoutMs,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece;
  });
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece;
    child.emit(SAID, stderr);
  });
  const ended = new Promise<CliEnd>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, stdout, stderr }));
  });
  const said = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      child.on(SAID, (text: string) => pattern.test(text) && resolve());
      child.once('close', () => reject(new Error(`It ended and never said ${pattern}: ${stderr}`)));
    });
  return { process: child, ended, said };
}

const SAID = 'filechat-said';
/** A process that does not end by itself fails its test. */
const endTimeoutMs = 3 * 60_000;
