/** Starts twenty servers at once. Servers that hang must not delay the others. */
import { fileURLToPath } from 'node:url';
import type { StdioServer } from '../../src/mcp/config/types.ts';
import { McpClient } from '../../src/mcpClient.ts';
import { alignColumns, type BenchOutcome, measureMs, median, showVerdict } from './frame.ts';

const FIXTURE = fileURLToPath(new URL('../integration/fixtures/hostile-server.mjs', import.meta.url));
const HEALTHY = 17;
/** One never responds, one never reads, one writes endlessly. */
const HANGING = ['silent', 'deaf', 'flood'];
const ROUNDS = 5;
const TIMEOUT_MS = 60_000;
const MAX_RATIO = 2;

export async function benchServers(): Promise<BenchOutcome> {
  const rounds: { readonly aloneMs: number; readonly besideHangingMs: number; readonly ratio: number }[] = [];
  // Round 0 warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    console.error(`servers: round ${round} of ${ROUNDS}`);
    const aloneMs = await startAll([]);
    const besideHangingMs = await startAll(HANGING);
    if (round > 0) rounds.push({ aloneMs, besideHangingMs, ratio: besideHangingMs / aloneMs });
  }
  const ratio = median(rounds.map((round) => round.ratio));
  const passed = ratio <= MAX_RATIO;
  const table = alignColumns([
    [`The slowest of ${HEALTHY} servers`, 'alone', `with ${HANGING.length} that hang`, 'ratio'],
    ...rounds.map((round, at) => [
      `round ${at + 1}`,
      `${Math.round(round.aloneMs)} ms`,
      `${Math.round(round.besideHangingMs)} ms`,
      `${round.ratio.toFixed(2)}×`,
    ]),
  ]);
  const verdict = `median ${ratio.toFixed(2)}×, target ≤ ${MAX_RATIO}×: ${showVerdict(passed)}`;
  return { figures: { rounds }, report: `${table}\n\n${verdict}`, passed };
}

/** The time in milliseconds until the slowest healthy server has responded to a call. */
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
  try {
    return await measureMs(() => {
      // These end with the connections.
      for (const name of hanging) void call(name).catch(ignore);
      return Promise.all(healthy.map(call));
    });
  } finally {
    await connections.dispose();
  }
}

function fixture(mode: string): StdioServer {
  return { kind: 'stdio', command: process.execPath, args: [FIXTURE, 'stdio', mode], env: {} };
}
