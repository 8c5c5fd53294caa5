/** Runs one client: `node measure.ts TASK`, started by `bench.ts`, to which it reports. */
import { open } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { measureMs } from '../frame.ts';
import {
  type BenchClient,
  type Connect,
  type Item,
  type Measurement,
  type Report,
  type Task,
  WARM_UP,
} from './types.ts';

const SAMPLE_MS = 10;

async function main(task: Task): Promise<void> {
  const { connect } = (await import(`./clients/${task.client}.ts`)) as { connect: Connect };
  const client = await connect(task.target);
  // Reported before closing, which may be slow or hang.
  await measureWarm(client, task).then(report, reportFailure);
  await client.close();
}

async function measureWarm(client: BenchClient, task: Task): Promise<Report> {
  await client.call(WARM_UP, task.warmUpFolder);
  await report({ kind: 'started' });
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

/** `stop` returns the peak above the memory at the start. */
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
      // The system's maximum includes earlier peaks, so it counts only if it has risen.
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
  return measureMs(async () => {
    const file = await open(item.path, 'r+');
    await file.sync();
    await file.close();
  });
}

function report(message: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });
}

function reportFailure(error: unknown): Promise<void> {
  return report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

// The runner has exited. The server of this client ends with it.
process.once('disconnect', () => process.exit());
await main(JSON.parse(process.argv[2] ?? '') as Task).catch(reportFailure);
process.exit();
