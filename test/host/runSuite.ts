/** Runs the mocha suite of suite/ inside a real extension host, against the packed extension. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import type { TestOutcome } from '../runner/nodeTests.ts';
import { chooseVscode } from './desktop.ts';
import { runInDesktop } from './desktopSuite.ts';
import { createTemporaryFolder } from './process.ts';
import { say, timed } from './progress.ts';
import type { TestResult } from './suite/index.ts';
import { runInWorkbench } from './workbench/workbenchSuite.ts';
import { checkout, createWorkspace } from './workspace.ts';

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

/** Runs the files of the suite whose name contains one of the words; all of them without words. */
export async function runHostSuite(vsix: string, words: readonly string[]): Promise<TestOutcome[]> {
  using cleanup = new DisposableStack();
  const results = cleanup.adopt(createTemporaryFolder('results'), (folder) => folder.dispose());
  const resultsFile = join(results.path, 'results.json');
  // Inside the checkout, where the bundle finds mocha in node_modules.
  const bundle = cleanup.adopt(createTemporaryFolder('suite', join(checkout, 'dist')), (folder) =>
    folder.dispose(),
  );
  const run: SuiteRun = {
    vsix,
    entry: await bundleSuite(bundle.path),
    folder: cleanup.adopt(createWorkspace(), (copy) => copy.dispose()).folder,
    env: {
      FILECHAT_SUITE_RESULTS: resultsFile,
      FILECHAT_SUITE_WORDS: JSON.stringify(words),
      // The `node` of the host's path may be too old for the servers of the tests.
      FILECHAT_SUITE_NODE: process.execPath,
    },
  };
  const vscode = await chooseVscode();
  const log = await timed(`The host suite has run in the ${vscode.kind}`, () =>
    vscode.kind === 'desktop' ? runInDesktop(vscode.executable, run) : runInWorkbench(run),
  );
  if (!existsSync(resultsFile)) throw new Error(`The host suite left no results. The host said:\n${log}`);
  const tests: readonly TestResult[] = JSON.parse(readFileSync(resultsFile, 'utf8'));
  for (const { title, ok, skipped, error } of tests)
    say(`${ok ? (skipped ? '-' : '✔') : '✖'} ${title}${error ? `\n${error}` : ''}`);
  return tests
    .filter(({ skipped }) => !skipped)
    .map(({ title, ok, ms }) => ({ name: `host: ${title}`, ok, ms }));
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
    // The suite starts no worker of its own.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  // Its service process would stay until this one ends.
  await stop();
  return join(outdir, 'index.cjs');
}
