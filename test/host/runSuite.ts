/** Runs the mocha suite of suite/ inside a real extension host, against the packed extension. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chooseVscode } from './desktop.ts';
import { runInDesktop } from './desktopSuite.ts';
import { createTemporaryFolder } from './process.ts';
import { say, timed } from './progress.ts';
import type { TestResult } from './suite/index.ts';
import { runInWorkbench } from './workbenchSuite.ts';
import { checkout, createWorkspace } from './workspace.ts';

export interface SuiteOutcome {
  /** Which VS Code it was. */
  readonly host: 'desktop' | 'workbench';
  readonly passed: number;
  readonly failed: number;
  readonly tests: readonly TestResult[];
}

/** What either VS Code needs to know to run the suite. */
export interface SuiteRun {
  readonly vsix: string;
  /** The bundled suite's entry. */
  readonly entry: string;
  /** The workspace. */
  readonly folder: string;
  /** For the extension host. */
  readonly env: Readonly<Record<string, string>>;
}

/** `workspace` is a folder to use instead of a fresh copy of the samples. */
export async function runHostSuite(options: { vsix: string; workspace?: string }): Promise<SuiteOutcome> {
  using cleanup = new DisposableStack();
  const results = cleanup.adopt(createTemporaryFolder('results'), (folder) => folder.dispose());
  const resultsFile = join(results.path, 'results.json');
  // Inside the checkout, where the bundle finds mocha in node_modules.
  const bundle = cleanup.adopt(createTemporaryFolder('suite', join(checkout, 'dist')), (folder) =>
    folder.dispose(),
  );
  const run: SuiteRun = {
    vsix: options.vsix,
    entry: await bundleSuite(bundle.path),
    folder: options.workspace ?? cleanup.adopt(createWorkspace(), (copy) => copy.dispose()).folder,
    env: { FILECHAT_SUITE_RESULTS: resultsFile },
  };
  const vscode = await chooseVscode();
  const host = vscode.kind;
  const log = await timed(`The host suite has run in the ${host}`, () =>
    vscode.kind === 'desktop' ? runInDesktop(vscode.executable, run) : runInWorkbench(run),
  );
  if (!existsSync(resultsFile)) throw new Error(`The host suite left no results. The host said:\n${log}`);
  return summarize(host, JSON.parse(readFileSync(resultsFile, 'utf8')));
}

function summarize(host: SuiteOutcome['host'], tests: readonly TestResult[]): SuiteOutcome {
  for (const { title, ok, skipped, error } of tests) {
    say(`${ok ? (skipped ? '-' : '✔') : '✖'} ${title}${error ? `\n${error}` : ''}`);
  }
  const failed = tests.filter((test) => !test.ok).length;
  const passed = tests.filter((test) => test.ok && !test.skipped).length;
  return { host, passed, failed, tests };
}

async function bundleSuite(outdir: string): Promise<string> {
  const source = join(import.meta.dirname, 'suite');
  await build({
    entryPoints: readdirSync(source)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(source, name)),
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  });
  return join(outdir, 'index.cjs');
}
