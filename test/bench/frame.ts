/** The frame of all benches: each one measures and reports; the runner prints and saves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

export interface BenchOutcome {
  readonly figures: object;
  /** Text for a terminal. */
  readonly report: string;
  /** Whether all targets were met. */
  readonly passed: boolean;
}

export interface Conditions {
  readonly date: string;
  readonly node: string;
  readonly machine: string;
}

export function currentConditions(): Conditions {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`;
  return { date: new Date().toISOString(), node: process.version, machine };
}

export function describeConditions({ date, node, machine }: Conditions): string {
  return `Node ${node}, ${machine}, ${date}`;
}

export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'filechat-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function measureMs(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const align = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(align).join('   ').trimEnd()).join('\n');
}

export function showMs(ms: number): string {
  return ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en');
}

export function showVerdict(passed: boolean): string {
  return passed ? 'ok' : 'MISSED';
}
