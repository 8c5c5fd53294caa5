import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../kit/folder.ts';

const RUN = `
const { runQueue } = await import(${JSON.stringify(new URL('./nodeTests.ts', import.meta.url).href)});
const outcomes = await runQueue(process.argv.slice(2), { processes: 2 });
console.log('OUTCOMES' + JSON.stringify(outcomes.map(({ name, ok }) => [name.replace(/^.*: /, ''), ok])));
`;

/** What each file does, and its outcomes. */
const FILES: Readonly<Record<string, readonly [code: string, ...outcomes: (readonly [string, boolean])[]]>> =
  {
    'a.test.mjs': [
      "import { test } from 'node:test'; test('good', () => {}); test('bad', () => { throw new Error('x'); });",
      ['good', true],
      ['bad', false],
    ],
    'b.test.mjs': ["throw new Error('it cannot be loaded');", ['b.test.mjs', false]],
    'c.test.mjs': [
      "import { after, test } from 'node:test'; test('tidy', () => {}); after(() => { throw new Error('x'); });",
      ['tidy', true],
      ['c.test.mjs', false],
    ],
  };

test('a queue of test files runs each once; one that cannot be loaded, or whose hook fails, has failed', async (t) => {
  const folder = temporaryFolder(t);
  for (const [name, [code]] of Object.entries(FILES)) writeFileSync(join(folder, name), code);
  const files = Object.keys(FILES).map((name) => join(folder, name));
  // A runner in a process of a runner would run nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = join(folder, 'run.mjs');
  writeFileSync(program, RUN);
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...files], { env });
  const outcomes = JSON.parse(stdout.split('OUTCOMES').at(-1) ?? '') as [string, boolean][];
  const found = outcomes.map(([name, ok]) => [name.split(/[\\/]/).at(-1) ?? '', ok] as const);
  const expected = Object.values(FILES).flatMap(([, ...each]) => each);
  const sorted = (list: readonly (readonly [string, boolean])[]) => list.map((each) => each.join()).sort();
  assert.deepEqual(sorted(found), sorted(expected));
});
