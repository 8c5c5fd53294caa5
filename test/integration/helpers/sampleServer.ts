import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RemoteServer, StdioServer } from '../../../src/mcp/config/types.ts';

/** The sample server as it is shipped; from its sources where nothing has been built. */
export function sampleServerFile(): string {
  const built = repositoryPath('dist/sample-server.js');
  return existsSync(built) ? built : repositoryPath('samples/server/main.ts');
}

export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

/** The sample server over stdio; its starts and its ends are written to the file `record`. */
export function recordedSample(record: string): StdioServer {
  const recorder = fileURLToPath(new URL('../fixtures/recorded-server.mjs', import.meta.url));
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [recorder, record, sampleServerFile()],
    env: {},
  };
}

export interface RecordedLife {
  readonly pid: number;
  /** False for a server that was killed, and for one that lives. */
  readonly leftByItself: boolean;
}

export function readRecord(record: string): readonly RecordedLife[] {
  const text = existsSync(record) ? readFileSync(record, 'utf8') : '';
  return [...text.matchAll(/^started (\d+)$/gm)].map(([, pid]) => ({
    pid: Number(pid),
    leftByItself: text.includes(`ended ${pid}\n`),
  }));
}

export interface HttpSample {
  readonly config: RemoteServer;
  stop(): Promise<void>;
}

export async function startSampleOverHttp(): Promise<HttpSample> {
  const child = spawn(process.execPath, [sampleServerFile(), '--http', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined)
      return { config: { kind: 'http', url, headers: {} }, stop: () => stopProcess(child) };
  }
  throw new Error('The sample server ended before it listened.');
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}
