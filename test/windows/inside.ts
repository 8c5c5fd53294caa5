/** Runs in Node for Windows: `node inside.ts TEMPORARY-FOLDER FILES…` runs these tests and prints the result. */
import { run } from 'node:test';
import { inspect } from 'node:util';

/** Two at a time finish no earlier on two processors: Wine has one server for all processes. */
const CONCURRENCY = 1;

async function main(): Promise<void> {
  const [temporary, ...files] = process.argv.slice(2);
  // Wine passes on every variable but these.
  process.env['TEMP'] = temporary;
  process.env['TMP'] = temporary;
  process.env['NODE_OPTIONS'] = `--import ${new URL('withoutKeepAlive.ts', import.meta.url)}`;
  const counts = { passed: 0, failed: 0 };
  const skipped: string[] = [];
  const events = run({ files, concurrency: CONCURRENCY });
  events.on('test:stdout', ({ message }) => process.stdout.write(message));
  events.on('test:stderr', ({ message }) => process.stdout.write(message));
  events.on('test:pass', ({ skip, details }) => {
    if (skip !== undefined) skipped.push(typeof skip === 'string' ? skip : 'no reason given');
    else if (details.type !== 'suite') counts.passed += 1;
  });
  events.on('test:fail', ({ name, file, line, details }) => {
    const { cause, failureType } = details.error as Error & { failureType?: string };
    // A suite also fails because of its tests, which were counted before.
    if (failureType === 'subtestsFailed') return;
    counts.failed += 1;
    console.log(`✖ ${name}\n  ${file}:${line}\n${inspect(cause).replaceAll(/^/gm, '    ')}\n`);
  });
  for await (const _ of events);
  for (const reason of new Set(skipped)) {
    console.log(`${skipped.filter((each) => each === reason).length} skipped: ${reason}`);
  }
  console.log(`windows: ${counts.passed} passed, ${counts.failed} failed, ${skipped.length} skipped`);
  // Without a passed test, the run has shown nothing.
  process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

await main();
