import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chooseVscode } from '../../host/desktop.ts';
import { runInDesktop } from '../../host/desktopSuite.ts';
import { createTemporaryFolder, runProcess } from '../../host/process.ts';
import type { SuiteRun } from '../../host/runSuite.ts';
import { runInWorkbench } from '../../host/workbench/workbenchSuite.ts';
import { checkout } from '../../host/workspace.ts';
import { median } from '../frame.ts';
import type { ChatRow } from './chatReport.ts';

/** A reply of this size, written below a chat of this length by the bare loop or by Filechat. */
export interface Stream {
  readonly way: 'bare' | 'ours';
  readonly turns: number;
  readonly kb: number;
  readonly edits: number;
  readonly ms: number;
  /** Of the extension host. */
  readonly cpuMs: number;
}

const PACKAGE_TIMEOUT_MS = 120_000;

/** Writes replies into documents of a real VS Code, relative to a bare loop with the same edits. */
export async function measureStreams(): Promise<readonly ChatRow[]> {
  using cleanup = new DisposableStack();
  const folder = cleanup.adopt(createTemporaryFolder('bench'), (each) => each.dispose()).path;
  // In the checkout, where the bundle finds mocha in node_modules.
  const dist = join(checkout, 'dist');
  await runProcess('npm', ['run', '--silent', 'package'], { cwd: checkout, timeoutMs: PACKAGE_TIMEOUT_MS });
  const bundle = cleanup.adopt(createTemporaryFolder('suite', dist), (each) => each.dispose());
  const streams = join(folder, 'streams.json');
  const suiteResults = join(folder, 'results.json');
  const run: SuiteRun = {
    vsix: join(dist, 'filechat.vsix'),
    entry: await bundleSuite(bundle.path),
    folder,
    env: { FILECHAT_BENCH_STREAMS: streams, FILECHAT_SUITE_RESULTS: suiteResults },
  };
  const vscode = await chooseVscode();
  const log =
    vscode.kind === 'desktop' ? await runInDesktop(vscode.executable, run) : await runInWorkbench(run);
  if (existsSync(streams)) return makeRows(JSON.parse(readFileSync(streams, 'utf8')));
  const results = existsSync(suiteResults) ? readFileSync(suiteResults, 'utf8') : 'no results';
  throw new Error(`VS Code measured no streams: ${results}\n${log}`);
}

/** The entry runs every file beside it whose name ends in `.test.cjs`. */
async function bundleSuite(outdir: string): Promise<string> {
  await build({
    entryPoints: [
      { in: join(checkout, 'test/host/suite/index.ts'), out: 'index' },
      { in: join(import.meta.dirname, 'chatHost.ts'), out: 'chatHost.test' },
    ],
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  });
  return join(outdir, 'index.cjs');
}

function makeRows(streams: readonly Stream[]): readonly ChatRow[] {
  const cases = Map.groupBy(streams, ({ turns, kb }) => `${turns} ${kb}`);
  return [...cases.values()].flatMap((rounds) => {
    const { turns = 0, kb = 0, edits = 0 } = rounds[0] ?? {};
    const size = kb >= 1_024 ? `${kb / 1_024} MB` : `${kb} KB`;
    const place = turns === 1 ? 'one turn' : `${turns.toLocaleString('en')} turns`;
    const what = `a reply of ${size} behind ${place}, ${edits} edits`;
    return [
      makeRow(`${what}: time in VS Code`, rounds, ({ ms }) => ms),
      makeRow(`${what}: CPU of the extension host`, rounds, ({ cpuMs }) => cpuMs),
    ];
  });
}

function makeRow(what: string, rounds: readonly Stream[], of: (stream: Stream) => number): ChatRow {
  const took = (way: Stream['way']) => median(rounds.filter((each) => each.way === way).map(of));
  return { what, ours: took('ours'), theirs: took('bare'), unit: 'ms', against: 'bare edits' };
}
