/** Runs inside the extension host: every test file beside this one, and their results into a file. */
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Mocha from 'mocha';

export interface TestResult {
  readonly title: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly skipped?: boolean;
  readonly error?: string;
}

/** VS Code calls this with the path of this module and takes a rejection for a failed run. */
export async function run(modulePath: string): Promise<void> {
  const mocha = new Mocha({ ui: 'tdd', timeout: 30_000 });
  const folder = dirname(modulePath);
  const words = JSON.parse(process.env['FILECHAT_SUITE_WORDS'] ?? '[]') as readonly string[];
  const isWanted = (name: string) => words.length === 0 || words.some((word) => name.includes(word));
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.cjs') && isWanted(name));
  for (const name of names.sort()) mocha.addFile(join(folder, name));
  const results = await runMocha(mocha);
  const file = process.env['FILECHAT_SUITE_RESULTS'];
  if (file) writeFileSync(file, JSON.stringify(results));
  const failed = results.filter((result) => !result.ok).length;
  if (failed > 0) throw new Error(`${failed} of ${results.length} host tests failed.`);
}

async function runMocha(mocha: Mocha): Promise<TestResult[]> {
  const results: TestResult[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  mocha
    .run(() => resolve())
    .on('pass', (test) => results.push({ title: test.fullTitle(), ok: true, ms: test.duration ?? 0 }))
    .on('pending', (test) => results.push({ title: test.fullTitle(), ok: true, ms: 0, skipped: true }))
    // A failed hook arrives here too, under its own title.
    .on('fail', (test, error) =>
      results.push({
        title: test.fullTitle(),
        ok: false,
        ms: test.duration ?? 0,
        error: error.stack ?? String(error),
      }),
    );
  await promise;
  return results;
}
