/** Twenty servers at once: how long the healthy ones take to be usable, among themselves and beside some that hang. */

import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { StdioServer } from '../../src/mcp/config/types.ts';
import { McpClient } from '../../src/mcpClient.ts';
import { median } from './chat/chatTypes.ts';
import { alignColumns } from './report.ts';

export interface ServersResults {
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  readonly rounds: readonly ServersRound[];
}

/** Until the slowest of the seventeen has answered a call, in milliseconds. */
interface ServersRound {
  readonly aloneMs: number;
  readonly besideHangingMs: number;
}

const FIXTURE = fileURLToPath(new URL('../integration/fixtures/hostile-server.mjs', import.meta.url));
const HEALTHY = 17;
/** One never answers, one never reads, one writes without an end. */
const HANGING = ['silent', 'deaf', 'flood'];
const ROUNDS = 5;
const TIMEOUT_MS = 60_000;
const MAX_RATIO = 2;

export async function measureServers(): Promise<ServersResults> {
  const rounds: ServersRound[] = [];
  // The round before the first is not counted: files have to be read from the disk once.
  for (let round = -1; round < ROUNDS; round += 1) {
    console.error(`servers: round ${round + 1} of ${ROUNDS}`);
    const aloneMs = await startAll([]);
    const besideHangingMs = await startAll(HANGING);
    if (round >= 0) rounds.push({ aloneMs, besideHangingMs });
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`;
  return { date: new Date().toISOString(), node: process.version, machine, rounds };
}

/** The middle one of the rounds, so that a passing load on the machine does not count. */
export function ratioOf({ rounds }: ServersResults): number {
  return median(rounds.map(({ aloneMs, besideHangingMs }) => besideHangingMs / aloneMs));
}

export function isFastEnough(results: ServersResults): boolean {
  return ratioOf(results) <= MAX_RATIO;
}

export function renderServersReport(results: ServersResults): string {
  const { node, machine, date, rounds } = results;
  const head = [
    `The slowest of ${HEALTHY} servers`,
    'among them',
    `with ${HANGING.length} that hang`,
    'ratio',
  ];
  const rows = rounds.map(({ aloneMs, besideHangingMs }, at) => [
    `round ${at + 1}`,
    `${Math.round(aloneMs)} ms`,
    `${Math.round(besideHangingMs)} ms`,
    `${(besideHangingMs / aloneMs).toFixed(2)}×`,
  ]);
  const verdict = `median ${ratioOf(results).toFixed(2)}×, target ≤ ${MAX_RATIO}×: ${isFastEnough(results) ? 'ok' : 'MISSED'}`;
  return [`Node ${node}, ${machine}, ${date}`, alignColumns([head, ...rows]), verdict].join('\n\n');
}

async function startAll(hanging: readonly string[]): Promise<number> {
  const healthy = Array.from({ length: HEALTHY }, (_, at) => `s${at}`);
  const servers = new Map([
    ...hanging.map((mode) => [mode, fixture(mode)] as const),
    ...healthy.map((name) => [name, fixture('plain')] as const),
  ]);
  const ignore = () => {};
  const connections = new McpClient({
    servers: async () => servers,
    log: { info: ignore, warn: ignore, error: ignore },
    timeoutMs: () => TIMEOUT_MS,
    clientInfo: { name: 'bench', version: '1' },
  });
  const call = (server: string) => connections.callToolRaw({ id: 'c', server, tool: 'fine', arguments: {} });
  const from = performance.now();
  try {
    // These end with the connections, and not before.
    const stuck = hanging.map((name) => call(name).catch(ignore));
    await Promise.all(healthy.map(call));
    const ms = performance.now() - from;
    void Promise.all(stuck);
    return ms;
  } finally {
    await connections.dispose();
  }
}

function fixture(mode: string): StdioServer {
  return { kind: 'stdio', command: process.execPath, args: [FIXTURE, 'stdio', mode], env: {} };
}
