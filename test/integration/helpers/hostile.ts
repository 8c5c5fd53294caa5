import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RemoteServer, StdioServer } from '../../../src/mcp/config/types.ts';
import type { ClientOptions } from '../../../src/mcpClient.ts';
import { type Cleanup, temporaryFolder } from '../../kit/folder.ts';
import { fixture, http, type Serving, serve, stopProcess } from './serving.ts';

const SERVER = fixture('hostile-server.mjs');

export type Way = 'stdio' | 'http';
export const WAYS: readonly Way[] = ['stdio', 'http'];

interface HostileOptions {
  readonly record?: string;
  readonly env?: StdioServer['env'];
}

export function hostileProcess(mode: string, { record = '', env = {} }: HostileOptions = {}): StdioServer {
  return { kind: 'stdio', command: process.execPath, args: [SERVER, 'stdio', mode, record], env };
}

/** The server over HTTP, as a process of its own. */
export async function startHostileSite(
  cleanup: Cleanup,
  mode: string,
  { record = '', env = {} }: HostileOptions = {},
): Promise<RemoteServer> {
  const child = spawn(process.execPath, [SERVER, 'http', mode, record], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  cleanup.after(() => stopProcess(child));
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return http(url);
}

export interface Hostility extends Serving {
  /** The clock of the delays between two starts. */
  readonly clock: { nowMs: number };
  /** Changes the lists of the server `bad`, and empties the log. */
  become(mode: string): void;
  /** The starts of the server `bad`, and the messages that it received. */
  record(): readonly RecordedMessage[];
}

export interface RecordedMessage {
  readonly started?: number;
  readonly method?: string;
  readonly tool?: string;
  /** The number of bytes of noise that were read from it so far. */
  readonly flooded?: number;
}

export interface FaceOptions extends Partial<ClientOptions> {
  readonly good: RemoteServer;
  readonly env?: StdioServer['env'];
}

/** A client of the hostile server `bad` and of another one, `good`. */
export async function face(
  cleanup: Cleanup,
  way: Way,
  mode: string,
  { good, env = {}, ...options }: FaceOptions,
): Promise<Hostility> {
  const record = join(temporaryFolder(cleanup), 'record.jsonl');
  const bad =
    way === 'stdio'
      ? hostileProcess(mode, { record, env })
      : await startHostileSite(cleanup, mode, { record, env });
  const clock = { nowMs: 0 };
  const serving = serve(cleanup, { bad, good }, { now: () => clock.nowMs, ...options });
  const become = (next: string) => {
    writeFileSync(`${record}.mode`, next);
    serving.logged.length = 0;
  };
  return Object.assign(serving, { clock, become, record: () => readRecord(record) });
}

export function readRecord(file: string): readonly RecordedMessage[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as RecordedMessage);
}
