/** What the extension host tells of itself. */
import type { Evaluate } from '../host/bridge.ts';

const RESOLUTION_MS = 5;

/** The longest time in which the extension host answered nobody while the work was done, in milliseconds. */
export async function longestBlock(evaluate: Evaluate, work: () => Promise<void>): Promise<number> {
  await evaluate((_vscode, resolution) => {
    const { monitorEventLoopDelay } = process.getBuiltinModule('node:perf_hooks');
    const delays = monitorEventLoopDelay({ resolution });
    delays.enable();
    Object.assign(globalThis, { filechatDelays: delays });
  }, RESOLUTION_MS);
  await work();
  const longest = await evaluate(() => {
    const { filechatDelays } = globalThis as unknown as {
      filechatDelays: { readonly max: number; disable(): void };
    };
    filechatDelays.disable();
    return filechatDelays.max / 1e6;
  });
  return Math.max(longest - RESOLUTION_MS, 0);
}

export interface Activation {
  /** Reading and compiling the code. */
  readonly loadMs: number;
  /** Running `activate`. */
  readonly callMs: number;
  /** Until what it returned had settled. */
  readonly finishMs: number;
  /** What made VS Code start it. */
  readonly event: string;
}

/** What VS Code's own view of its performance says of Filechat's start. */
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
