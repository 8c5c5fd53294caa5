import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RemoteServer, StdioServer } from '../../../src/mcp/config/types.ts';
import type { Cleanup } from '../../kit/folder.ts';
import { fixture, http, stopProcess } from './serving.ts';

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
  const args = [fixture('recorded-server.mjs'), record, sampleServerFile()];
  return { kind: 'stdio', command: process.execPath, args, env: {} };
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

export async function startSampleOverHttp(cleanup: Cleanup): Promise<RemoteServer> {
  const child = spawn(process.execPath, [sampleServerFile(), '--http', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  cleanup.after(() => stopProcess(child));
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return http(url);
  }
  throw new Error('The sample server exited before it listened.');
}
