/** Windows of assets of several sizes through the real server: what they cost must not depend on the size. */
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const SERVER = join(import.meta.dirname, '../../dist/assets-server.js');
const MEGABYTES = [1, 100, 1024];
const WINDOW_BYTES = 64 * 1024;
const ROUNDS = 40;
/** By how much a window of the largest may be slower than one of the smallest before this counts as a failure. */
const MAX_RATIO = 2;

export interface WindowRow {
  readonly megabytes: number;
  /** Of the fastest round: whatever else the machine does can only make one slower. */
  readonly ms: number;
  /** The most memory that the server ever had, when these windows were read; unknown where the system does not tell. */
  readonly peakMb?: number;
}

export async function measureAssets(): Promise<readonly WindowRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'filechat-bench-'));
  const client = new Client({ name: 'filechat-bench', version: '1' });
  try {
    await writeAssets(folder);
    const transport = new StdioClientTransport({ command: process.execPath, args: [SERVER, folder] });
    await client.connect(transport);
    const times = await measureTimes(client);
    const rows: WindowRow[] = [];
    for (const [at, megabytes] of MEGABYTES.entries()) {
      for (let round = 0; round < ROUNDS; round += 1) await readWindow(client, megabytes, round);
      const peakMb = await peakOf(transport.pid ?? 0);
      rows.push({ megabytes, ms: times[at] ?? 0, ...(peakMb === undefined ? {} : { peakMb }) });
    }
    return rows;
  } finally {
    await client.close();
    await rm(folder, { recursive: true, force: true });
  }
}

export function renderAssetsReport(rows: readonly WindowRow[]): string {
  const [first] = rows;
  const lines = rows.map(({ megabytes, ms, peakMb }) => {
    const ratio = (ms / (first?.ms ?? ms)).toFixed(2);
    return `${`${megabytes} MB`.padStart(8)}  ${ms.toFixed(2).padStart(7)} ms  ${ratio} ×  peak ${peakMb ?? '?'} MB`;
  });
  return ['A window of 64 KB through the assets server, by the size of the asset:', ...lines].join('\n');
}

export function doesSizeNotMatter(rows: readonly WindowRow[]): boolean {
  const all = rows.map(({ ms }) => ms);
  return Math.max(...all) <= MAX_RATIO * (all[0] ?? 0);
}

/** In turns, so that a passing load does not hit one size alone. */
async function measureTimes(client: Client): Promise<readonly number[]> {
  const fastest = MEGABYTES.map(() => Number.POSITIVE_INFINITY);
  for (let round = -5; round < ROUNDS; round += 1) {
    for (const [at, megabytes] of MEGABYTES.entries()) {
      const began = performance.now();
      await readWindow(client, megabytes, Math.max(0, round));
      const ms = performance.now() - began;
      // The rounds before the first are not counted: the engine still learns.
      if (round >= 0) fastest[at] = Math.min(fastest[at] ?? ms, ms);
    }
  }
  return fastest;
}

/** They are holes for the most part, which are read as fast as any bytes that the system has in memory. */
async function writeAssets(folder: string): Promise<void> {
  await mkdir(join(folder, 'cmdassets'));
  for (const megabytes of MEGABYTES) {
    const path = join(folder, 'cmdassets', nameOf(megabytes));
    await writeFile(path, Buffer.alloc(WINDOW_BYTES, 7));
    await truncate(path, megabytes * 1024 * 1024);
  }
}

function nameOf(megabytes: number): string {
  return `tool-file-20261116-093012-Bench${String(megabytes).padStart(5, '0')}-1.bin`;
}

/** From the beginning to the end of the file. */
async function readWindow(client: Client, megabytes: number, round: number): Promise<void> {
  const last = megabytes * 1024 * 1024 - WINDOW_BYTES;
  const start = Math.floor((last * round) / (ROUNDS - 1));
  const uri = `filechat://cmdassets/${nameOf(megabytes)}`;
  const result = await client.callTool({
    name: 'read_asset',
    arguments: { uri, start, maxBytes: WINDOW_BYTES },
  });
  const { byteCount } = result.structuredContent as { readonly byteCount: number };
  if (byteCount !== WINDOW_BYTES) throw new Error(`A window of ${megabytes} MB has ${byteCount} bytes.`);
}

async function peakOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}
