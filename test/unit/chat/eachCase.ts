import { it } from 'node:test';

/** One test per case. The keys are the names of the tests. */
export function eachCase<Case extends readonly unknown[]>(
  cases: Readonly<Record<string, Case>>,
  check: (...values: NoInfer<Case>) => void,
): void {
  for (const [name, values] of Object.entries(cases)) it(name, () => check(...values));
}
