import { findImage, growth, WAY_TITLES } from './lookUp.ts';
import { type Cell, type ClientName, WAYS, type Way } from './types.ts';

export interface Bar {
  /** `–` when the run left out what the bar is about. */
  readonly verdict: 'ok' | 'MISSED' | '–';
  readonly text: string;
}

const MAX_RATIO: Readonly<Record<Way, number>> = { stdio: 1.5, json: 2, sse: 2 };

interface Limit {
  readonly max: number;
  readonly unit: string;
  /** The sizes that the figure comes from. */
  readonly sizes: readonly number[];
}

const MEMORY: Limit = { max: 80, unit: ' MB', sizes: [128] };
const MEMORY_RISE: Limit = { max: 15, unit: ' MB', sizes: [32, 256] };
const GROWTH: Limit = { max: 9, unit: '×', sizes: [32, 256] };
const DELAY: Limit = { max: 50, unit: ' ms', sizes: [128] };

/** What issue 3 asks of our client, one line for each way and promise. */
export function judgeBars(cells: readonly Cell[]): readonly Bar[] {
  return [...WAYS.flatMap((way) => judgeWay(cells, way)), judgeBytes(cells)];
}

function judgeWay(cells: readonly Cell[], way: Way): readonly Bar[] {
  const find = (client: ClientName, mb: number) => findImage(cells, { way, client, mb });
  const [ours, floor] = [find('ours', 128), find('floor', 128)];
  const [small, large] = [find('ours', 32), find('ours', 256)];
  const judge = (what: string, value: number | undefined, { max, unit, sizes }: Limit): Bar => ({
    verdict: verdictOf(value, max, failedAt(cells, way, sizes)),
    text: `${WAY_TITLES[way]}: ${what}: ${value === undefined ? 'no figure' : `${round(value)}${unit}`}, at most ${max}${unit}`,
  });
  const rise = small && large && Math.abs(large.rssBytes - small.rssBytes) / 1e6;
  return [
    judge('time of 128 MB against the floor', ours && floor && ours.ms / floor.ms, {
      max: MAX_RATIO[way],
      unit: '×',
      sizes: [128],
    }),
    judge('memory above idle at 128 MB', ours && ours.rssBytes / 1e6, MEMORY),
    judge('memory at 256 MB against 32 MB', rise, MEMORY_RISE),
    judge('time of 256 MB against 32 MB', growth(cells, way, 'ours'), GROWTH),
    judge('event loop delay at 128 MB', ours?.loopDelayMs, DELAY),
  ];
}

/** A figure that is missing because our client failed is a bar missed, not a bar left out. */
function verdictOf(value: number | undefined, max: number, failed: boolean): Bar['verdict'] {
  if (value === undefined) return failed ? 'MISSED' : '–';
  return value <= max ? 'ok' : 'MISSED';
}

function failedAt(cells: readonly Cell[], way: Way, sizes: readonly number[]): boolean {
  return cells.some(
    ({ client, load, outcome, ...cell }) =>
      client === 'ours' &&
      cell.way === way &&
      load.kind === 'image' &&
      sizes.includes(load.mb) &&
      outcome.kind !== 'measured',
  );
}

function judgeBytes(cells: readonly Cell[]): Bar {
  const wrong = cells.filter(({ outcome }) => outcome.kind === 'wrong').length;
  const checked = cells.filter(({ outcome }) => outcome.kind === 'measured').length + wrong;
  const verdict = checked === 0 ? '–' : wrong === 0 ? 'ok' : 'MISSED';
  return { verdict, text: `bytes equal by SHA-256 in ${checked - wrong} of ${checked} cells` };
}

function round(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}
