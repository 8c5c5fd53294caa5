/** Measures in the extension host. */
import type { Evaluate } from '../../host/bridge.ts';

const RESOLUTION_MS = 5;
const SAMPLE_US = 500;

export interface HostBusy {
  /** The longest time in which the extension host was blocked. */
  readonly longestMs: number;
  /** The longest time in which Filechat's code ran without a pause. */
  readonly oursMs: number;
  /** The total time of Filechat's code. */
  readonly oursTotalMs: number;
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly children?: readonly number[];
    readonly callFrame: { readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export async function watchHost(evaluate: Evaluate, work: () => Promise<void>): Promise<HostBusy> {
  await evaluate(
    async (_vscode, resolution, interval) => {
      const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
      const { Session } = process.getBuiltinModule('node:inspector/promises');
      const profiler = new Session();
      profiler.connect();
      await profiler.post('Profiler.enable');
      await profiler.post('Profiler.setSamplingInterval', { interval });
      await profiler.post('Profiler.start');
      const delays = monitorEventLoopDelay({ resolution });
      delays.enable();
      Object.assign(globalThis, { filechatBench: { delays, profiler } });
    },
    RESOLUTION_MS,
    SAMPLE_US,
  );
  await work();
  const { max, profile } = await evaluate(async () => {
    const { filechatBench } = globalThis as unknown as {
      filechatBench: {
        readonly delays: { readonly max: number; disable(): void };
        readonly profiler: { post(method: string): Promise<{ profile: unknown }>; disconnect(): void };
      };
    };
    filechatBench.delays.disable();
    const stopped = await filechatBench.profiler.post('Profiler.stop');
    filechatBench.profiler.disconnect();
    return { max: filechatBench.delays.max / 1e6, profile: stopped.profile as Profile };
  });
  return { longestMs: Math.max(max - RESOLUTION_MS, 0), ...oursIn(profile) };
}

/** Counts consecutive samples in Filechat's functions and the functions that they called. */
export function oursIn({ nodes, samples, timeDeltas }: Profile): Pick<HostBusy, 'oursMs' | 'oursTotalMs'> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ours = new Set<number>();
  const add = (id: number): void => {
    ours.add(id);
    for (const child of byId.get(id)?.children ?? []) add(child);
  };
  for (const { id, callFrame } of nodes) if (/filechat\.filechat/.test(callFrame.url)) add(id);
  let [current, longest, total] = [0, 0, 0];
  for (const [at, id] of samples.entries()) {
    const micros = timeDeltas[at + 1] ?? 0;
    if (ours.has(id)) total += micros;
    current = ours.has(id) ? current + micros : 0;
    longest = Math.max(longest, current);
  }
  return { oursMs: longest / 1_000, oursTotalMs: total / 1_000 };
}

export interface Activation {
  /** Reading and compiling the code. */
  readonly loadMs: number;
  /** Running `activate`. */
  readonly callMs: number;
  /** Until the returned promise had settled. */
  readonly finishMs: number;
  /** The activation event. */
  readonly event: string;
}

/** From VS Code's startup performance view. */
export async function readActivation(evaluate: Evaluate): Promise<Activation> {
  const cells = await evaluate(async (vscode) => {
    await vscode.commands.executeCommand('perfview.show');
    const view = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'perf');
    const text = (view ?? vscode.window.activeTextEditor?.document)?.getText() ?? '';
    const row = text.split('\n').find((line) => /^\|?\s*filechat\.filechat\s*\|/.test(line));
    if (row === undefined) throw new Error(`Filechat is not among the started extensions:\n${text}`);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    return row.split('|').map((cell) => cell.trim());
  });
  const first = cells.indexOf('filechat.filechat');
  const [, , load, call, finish, event] = cells.slice(first);
  return {
    loadMs: Number(load),
    callMs: Number(call),
    finishMs: Number(finish),
    event: event ?? '',
  };
}
