/**
 * `npm run attack -- --minutes N [--seed S] [--kinds stdio,model]`: generates hostile cases from a seed, drives the
 * product with them, shrinks what fails, and saves it to `found/`, which `npm test` replays.
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { createRunFolder } from '../runner/leftovers.ts';
import { CASES } from './grammar.ts';
import { Lane } from './lane.ts';
import { type Case, KINDS, type Kind } from './spec.ts';

const LANES = 2;
/** The cases of one kind before the next kind has its turn. */
const ROUND: Readonly<Record<Kind, number>> = {
  stdio: 40,
  http: 120,
  sse: 80,
  model: 150,
  chat: 200,
  config: 80,
  tree: 80,
};
const SHRINK_MS = 60_000;

interface Tally {
  cases: number;
  stallMs: number;
  grownBytes: number;
}

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' }, kinds: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const startedAt = performance.now();
const endsAt = startedAt + Number(values.minutes) * 60_000;
const kinds = (values.kinds?.split(',') as Kind[] | undefined) ?? KINDS;
const tallies = new Map(kinds.map((kind): [Kind, Tally] => [kind, { cases: 0, stallMs: 0, grownBytes: 0 }]));
const found = new Map<string, string>();

console.log(`seed ${seed}, ${values.minutes} minutes`);
const folder = createRunFolder();
let turn = 0;
await Promise.all(Array.from({ length: LANES }, work));
const left = folder.findLeftovers().filter((line) => line.startsWith('process'));
folder.dispose();
report();

async function work(): Promise<void> {
  await using lane = new Lane();
  while (performance.now() < endsAt) {
    const kind = kinds[turn % kinds.length] as Kind;
    turn += 1;
    await attackWith(lane, kind, seed + turn);
  }
}

async function attackWith(lane: Lane, kind: Kind, roundSeed: number): Promise<void> {
  let failures: readonly string[] = [];
  let isShrinking = false;
  let seconds = 0;
  const property = fc.asyncProperty(CASES[kind], async (attack) => {
    if (!isShrinking && performance.now() > endsAt) return;
    const now = await lane.shootSurely(attack);
    if (!isShrinking) count(kind, now);
    // A smaller case counts only if it fails in the same way.
    if (
      now.failures.length === 0 ||
      found.has(`${kind} ${groupOf(now.failures)}`) ||
      (isShrinking && groupOf(now.failures) !== groupOf(failures))
    )
      return;
    failures = now.failures;
    if (!isShrinking) seconds = Math.round((performance.now() - startedAt) / 1000);
    isShrinking = true;
    throw new Error(failures.join('\n'));
  });
  const limit = Math.max(1000, endsAt - performance.now() + SHRINK_MS);
  const outcome = await fc.check(property, {
    seed: roundSeed,
    numRuns: ROUND[kind],
    interruptAfterTimeLimit: Math.min(limit, 4 * SHRINK_MS),
    endOnFailure: false,
  });
  const smallest = outcome.counterexample?.[0];
  // A mistake of the attack itself.
  if (outcome.failed && !outcome.interrupted && failures.length === 0) throw outcome.errorInstance;
  if (failures.length === 0 || !smallest) return;
  const group = `${kind} ${groupOf(failures)}`;
  if (!found.has(group)) found.set(group, save(smallest, failures));
  console.log(`✖ ${group} (seed ${roundSeed}, after ${seconds} s): ${failures.join('; ').slice(0, 400)}`);
}

function groupOf(failures: readonly string[]): string {
  return failures[0]?.split(':')[0] ?? '';
}

function count(kind: Kind, { stallMs, grownBytes }: { stallMs: number; grownBytes: number }): void {
  const tally = tallies.get(kind);
  if (!tally) return;
  tally.cases += 1;
  tally.stallMs = Math.max(tally.stallMs, stallMs);
  tally.grownBytes = Math.max(tally.grownBytes, grownBytes);
}

function save(attack: Case, failures: readonly string[]): string {
  const content = JSON.stringify(attack, null, 2);
  const name = `${attack.kind}-${groupOf(failures)}-${createHash('sha256').update(content).digest('hex').slice(0, 6)}.json`;
  writeFileSync(join(import.meta.dirname, 'found', name), `${content}\n`);
  return name;
}

function report(): void {
  const total = [...tallies.values()].reduce((sum, { cases }) => sum + cases, 0);
  console.log('\nkind      cases   longest stall   highest growth');
  for (const [kind, { cases, stallMs, grownBytes }] of tallies) {
    const growth = `${Math.round(grownBytes / 1e6)} MB`;
    console.log(
      `${kind.padEnd(8)} ${String(cases).padStart(6)} ${`${stallMs} ms`.padStart(15)} ${growth.padStart(16)}`,
    );
  }
  console.log(`all      ${String(total).padStart(6)}\n`);
  for (const [group, file] of found) console.log(`✖ ${group}: test/attack/found/${file}`);
  for (const line of left) console.log(`✖ left behind: ${line}`);
  console.log(`${found.size} failures, seed ${seed}`);
  if (found.size + left.length > 0) process.exitCode = 1;
}
