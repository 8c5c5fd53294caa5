/** How long the page is busy at a time, by Chromium's own trace: the workbench, its webviews and previews. */
import type { Page } from 'playwright-core';

export interface Busy {
  /** The longest time in which the page could not answer, in milliseconds. */
  readonly longestMs: number;
  /** How many tasks took more than LONG_MS. */
  readonly long: number;
}

export const LONG_MS = 100;

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly dur?: number;
  readonly args?: { readonly name?: string };
}

/** Traces while the work is done. */
export async function traceTasks(page: Page, work: () => Promise<void>): Promise<Busy> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'], recordMode: 'recordAsMuchAsPossible' },
  });
  try {
    await work();
  } finally {
    await session.send('Tracing.end');
    await complete;
    await session.detach();
  }
  return summarize(events);
}

function summarize(events: readonly TraceEvent[]): Busy {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map((event) => threadOf(event)),
  );
  const tasks = events
    .filter((event) => event.name === 'ThreadControllerImpl::RunTask' && mains.has(threadOf(event)))
    .map(({ dur = 0 }) => dur / 1_000);
  if (tasks.length === 0) throw new Error('The trace holds no tasks of the page.');
  return {
    longestMs: tasks.reduce((most, each) => Math.max(most, each), 0),
    long: tasks.filter((ms) => ms > LONG_MS).length,
  };
}
