/** Reads windows of assets through the real server. Their cost must not depend on the size of the asset. */
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { alignColumns, type BenchOutcome, inTemporaryFolder, measureMs } from './frame.ts';

const SERVER = join(import.meta.dirname, '../../dist/assets-server.js');
const MEGABYTES = [1, 100, 1024];
const WINDOW_BYTES = 64 * 1024;
const ROUNDS = 40;
/** How much slower a window of the largest asset may be. */
const MAX_RATIO = 2;

interface WindowRow {
  readonly megabytes: number;
  /** Of the fastest round: load on the machine can only slow a round down. */
  readonly ms: number;
  /** The server's peak memory so far, if the system reports it. */
  readonly peakMb?: number | undefined;
}

export async function benchAssets(): Promise<BenchOutcome> {
  const rows = await inTemporaryFolder(measureRows);
  const times = rows.map(({ ms }) => ms);
  const [first = Number.NaN] = times;
  const table = rows.map(({ megabytes, ms, peakMb }) => [
    `${megabytes} MB`,
    `${ms.toFixed(2)} ms`,
    `${(ms / first).toFixed(2)} ×`,
    `peak ${peakMb ?? '?'} MB`,
  ]);
  const title = 'A window of 64 KB through the assets server, by the size of the asset:';
  const report = `${title}\n${alignColumns(table)}`;
  return { figures: { rows }, report, passed: Math.max(...times) <= MAX_RATIO * first };
}

async function measureRows(folder: string): Promise<readonly WindowRow[]> {
  const client = new Client({ name: 'filechat-bench', version: '1' });
  try {
    await writeAssets(folder);
    const transport = new StdioClientTransport({ command: process.execPath, args: [SERVER, folder] });
    await client.connect(transport);
    const times = await measureTimes(client);
    const rows: WindowRow[] = [];
    for (const [at, megabytes] of MEGABYTES.entries()) {
      for (let round = 0; round < ROUNDS; round += 1) await readWindow(client, megabytes, round);
      rows.push({ megabytes, ms: times[at] ?? 0, peakMb: await peakOf(transport.pid ?? 0) });
    }
    return rows;
  } finally {
    await client.close();
  }
}

/** In turns, so that a passing load does not affect only one size. */
async function measureTimes(client: Client): Promise<readonly number[]> {
  const fastest = MEGABYTES.map(() => Number.POSITIVE_INFINITY);
  for (let round = -5; round < ROUNDS; round += 1) {
    for (const [at, megabytes] of MEGABYTES.entries()) {
      const ms = await measureMs(() => readWindow(client, megabytes, Math.max(0, round)));
      // Negative rounds warm up.
      if (round >= 0) fastest[at] = Math.min(fastest[at] ?? ms, ms);
    }
  }
  return fastest;
}

/** Sparse files, which are read as fast as cached ones. */
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

/** The windows of all rounds are spread over the file. */
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
