/** One client in a process of its own: `node measure.ts TASK`, started by `cell.ts`, to which it reports. */
import { open } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { BenchClient, Connect, Item, Measurement, Report, Task } from './types.ts';
import { WARM_UP } from './types.ts';

const SAMPLE_MS = 10;

async function main(task: Task): Promise<void> {
  const { connect } = (await import(`./clients/${task.client}.ts`)) as { connect: Connect };
  const client = await connect(task.target);
  // Told before closing, which may take its time or hang.
  await measureWarm(client, task).then(tell, tellFailure);
  await client.close();
}

async function measureWarm(client: BenchClient, task: Task): Promise<Report> {
  await client.call(WARM_UP, task.warmUpFolder);
  await tell({ kind: 'started' });
  return { kind: 'done', ...(await measureCall(client, task)) };
}

async function measureCall(client: BenchClient, { load, folder }: Task) {
  const memory = watchMemory();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const items = await client.call(load, folder);
  const ms = performance.now() - start;
  delay.disable();
  const rssBytes = memory.stop();
  const only = items.length === 1 ? items[0] : undefined;
  const durable = only === undefined ? {} : { durableMs: ms + (await measureSync(only)) };
  const measurement: Measurement = { ms, ...durable, rssBytes, loopDelayMs: delay.max / 1e6 };
  return { measurement, items };
}

/** Says, when stopped, how far the memory rose above what it was at the start. */
function watchMemory(): { stop(): number } {
  const idle = process.memoryUsage.rss();
  const maxBefore = maxRssBytes();
  let peak = idle;
  const sample = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      sample();
      // The system's own maximum also counts what came before, so it only says something when it rose.
      const max = maxRssBytes();
      return (max > maxBefore ? Math.max(peak, max) : peak) - idle;
    },
  };
}

function maxRssBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

async function measureSync(item: Item): Promise<number> {
  if (item.kind === 'text') return 0;
  const start = performance.now();
  const file = await open(item.path, 'r+');
  await file.sync();
  await file.close();
  return performance.now() - start;
}

function tell(report: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}

function tellFailure(error: unknown): Promise<void> {
  return tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

// The runner is gone: nobody waits for this client, and its server ends with it.
process.once('disconnect', () => process.exit());
await main(JSON.parse(process.argv[2] ?? '') as Task).catch(tellFailure);
process.exit();
