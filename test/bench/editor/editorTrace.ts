/** Measures the tasks of the page with Chromium's trace: the workbench, and the webviews in it. */
import type { Page } from 'playwright-core';

export interface Busy {
  /** The longest task. */
  readonly longestMs: number;
  /** The most CPU time of a task, which does not depend on other programs. */
  readonly cpuMs: number;
  /** How many tasks took more than LONG_MS. */
  readonly long: number;
}

export interface PageBusy {
  readonly workbench: Busy;
  /** Previews and galleries. */
  readonly webviews: Busy;
}

export const LONG_MS = 100;

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
  /** CPU time. */
  readonly tdur?: number;
  readonly args?: {
    readonly name?: string;
    readonly data?: FrameData & { readonly frames?: readonly FrameData[] };
    readonly beginData?: FrameData;
  };
}

/** A document in the page, if an event names one. */
interface FrameData {
  readonly frame?: string;
  readonly parent?: string;
  readonly url?: string;
}

const CATEGORIES = ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];

export async function traceTasks(page: Page, work: () => Promise<void>): Promise<PageBusy> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES, recordMode: 'recordAsMuchAsPossible' },
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

export function summarize(events: readonly TraceEvent[]): PageBusy {
  const webviews = findWebviews(events);
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map((event) => threadOf(event)),
  );
  const threads = Map.groupBy(
    events.filter((event) => mains.has(threadOf(event))),
    threadOf,
  );
  const tasks = [...threads.values()].flatMap((thread) => readTasks(thread, webviews));
  if (tasks.length === 0) throw new Error('The trace has no tasks of the page.');
  return {
    workbench: busyWith(tasks.filter(({ isWebview }) => !isWebview)),
    webviews: busyWith(tasks.filter(({ isWebview }) => isWebview)),
  };
}

interface Task {
  readonly ms: number;
  readonly cpuMs: number;
  readonly isWebview: boolean;
}

/** A task belongs to the document in which it spent the most time, else to the workbench. */
function readTasks(thread: readonly TraceEvent[], webviews: ReadonlySet<string>): readonly Task[] {
  const inOrder = thread.toSorted((a, b) => a.ts - b.ts);
  const tasks = inOrder.filter(({ name }) => name === 'ThreadControllerImpl::RunTask');
  const told = inOrder.filter((event) => event.dur !== undefined && frameOf(event) !== undefined);
  let next = 0;
  return tasks.map(({ ts, dur = 0, tdur }) => {
    const shares = { webview: 0, workbench: 0 };
    for (; (told[next]?.ts ?? Number.POSITIVE_INFINITY) < ts + dur; next += 1) {
      const event = told[next];
      if (!event || event.ts < ts) continue;
      shares[webviews.has(frameOf(event) ?? '') ? 'webview' : 'workbench'] += event.dur ?? 0;
    }
    return { ms: dur / 1_000, cpuMs: (tdur ?? dur) / 1_000, isWebview: shares.webview > shares.workbench };
  });
}

function findWebviews(events: readonly TraceEvent[]): ReadonlySet<string> {
  const frames = events.flatMap(({ name, args }) => {
    if (name === 'TracingStartedInBrowser') return args?.data?.frames ?? [];
    return name === 'FrameCommittedInBrowser' && args?.data ? [args.data] : [];
  });
  const found = new Set<string>();
  for (const { frame, parent, url = '' } of frames) {
    if (frame === undefined) continue;
    if (url.includes('extensionId=') || (parent !== undefined && found.has(parent))) found.add(frame);
  }
  return found;
}

function busyWith(tasks: readonly Task[]): Busy {
  const most = (times: readonly number[]) => times.reduce((found, each) => Math.max(found, each), 0);
  return {
    longestMs: most(tasks.map(({ ms }) => ms)),
    cpuMs: most(tasks.map(({ cpuMs }) => cpuMs)),
    long: tasks.filter(({ ms }) => ms > LONG_MS).length,
  };
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`;
}

function frameOf({ args }: TraceEvent): string | undefined {
  return args?.data?.frame ?? args?.beginData?.frame;
}
