import { alignColumns } from '../report.ts';

/** One helper with one form of the image. */
export interface ContentRow {
  readonly what: string;
  /** Of the fastest round, as is `plainMs`. */
  readonly oursMs: number;
  readonly plainMs: number;
  /** What `plainMs` is the time of. */
  readonly against: string;
  /** What the helper took in the middle one of all rounds. */
  readonly middleMs: number;
  /** How far the memory rose above what it was with the image loaded. */
  readonly oursPeakBytes: number;
  readonly plainPeakBytes: number;
}

export interface ContentResults {
  readonly date: string;
  readonly node: string;
  readonly machine: string;
  readonly imageBytes: number;
  readonly rows: readonly ContentRow[];
}

export const MAX_CONTENT_MS = 500;

export function isContentFastEnough({ rows }: ContentResults): boolean {
  return rows.length > 0 && rows.every(isFast);
}

/** The table of the content helpers, with what must hold, as text for a terminal. */
export function renderContentReport({ node, machine, date, imageBytes, rows }: ContentResults): string {
  const head = [
    `An image of ${showMb(imageBytes)}`,
    'Filechat',
    'against',
    '',
    'ratio',
    'peak',
    'against',
    'middle round',
    `< ${MAX_CONTENT_MS} ms`,
  ];
  const table = alignColumns([head, ...rows.map(describeRow)]);
  return [`Node ${node}, ${machine}, ${date}`, table].join('\n\n');
}

function describeRow(row: ContentRow): readonly string[] {
  return [
    row.what,
    showMs(row.oursMs),
    showMs(row.plainMs),
    row.against,
    `${(row.oursMs / row.plainMs).toFixed(2)}×`,
    showMb(row.oursPeakBytes),
    showMb(row.plainPeakBytes),
    showMs(row.middleMs),
    isFast(row) ? 'ok' : 'MISSED',
  ];
}

function isFast({ middleMs }: ContentRow): boolean {
  return middleMs < MAX_CONTENT_MS;
}

function showMs(ms: number): string {
  return `${ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')} ms`;
}

function showMb(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}
