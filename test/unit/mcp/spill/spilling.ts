import { readdirSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { BUDGET } from '../../../../src/base/budget.ts';
import { type FilterRequests, JsonFilter } from '../../../../src/mcp/spill/jsonFilter.ts';
import { SpillTable } from '../../../../src/mcp/spill/spillFiles.ts';
import type { Spill } from '../../../../src/ports/results.ts';
import { temporaryFolder } from '../../../kit/folder.ts';

/** Small enough for thousands of cases. */
export const MIN_CHARS = 16;

export interface Folder {
  readonly path: string;
  files(): string[];
  table(maxBytes?: number): SpillTable;
}

/** A folder that is removed after the test. */
export function makeFolder(t: TestContext): Folder {
  const path = temporaryFolder(t);
  return {
    path,
    files: () => readdirSync(path),
    table: (maxBytes = 1e9) => new SpillTable({ folder: async () => path, maxBytes }),
  };
}

/** Splits bytes into chunks of these sizes, repeated. */
export function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes.length === 0 ? bytes.length : (sizes[n % sizes.length] ?? 1);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Filters one message whose only table is the given one. */
export async function filterMessage(
  chunks: readonly Buffer[],
  table: SpillTable | undefined,
  minSpilledChars = MIN_CHARS,
  minSpilledTextChars?: number,
): Promise<Buffer> {
  const requests: FilterRequests = {
    tableFor: (id) => (id === undefined ? table?.createSibling() : table),
    assign: async (_id, other) => table?.adopt(other),
    arrived: () => {},
    tooLarge: () => Buffer.from('{}'),
    dropped: () => Buffer.from('{}'),
    maxValues: () => BUDGET.messageValues,
    maxDroppedBytes: BUDGET.droppedBytes,
  };
  const filter = new JsonFilter(requests, minSpilledChars, minSpilledTextChars);
  for (const chunk of chunks) await filter.push(chunk);
  return filter.end();
}

/** Replaces each placeholder by its description. */
export function resolveSpills(
  value: unknown,
  table: SpillTable,
  describe: (spill: Spill) => unknown,
): unknown {
  if (typeof value === 'string') {
    const spill = table.find(value);
    return spill === undefined ? value : describe(spill);
  }
  if (Array.isArray(value)) return value.map((each) => resolveSpills(each, table, describe));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, resolveSpills(each, table, describe)]),
  );
}

export function bytesOf(spill: Spill | undefined): Buffer {
  if (spill?.kind !== 'bytes') throw new Error(`No bytes but ${JSON.stringify(spill)}`);
  return readFileSync(spill.path);
}
