import { alignColumns, showMs, showVerdict } from '../frame.ts';
import {
  type Cell,
  CLIENT_TITLES,
  CLIENTS,
  type ClientName,
  LIMIT_MS,
  type Measurement,
  nameLoad,
  type Outcome,
  TOO_SLOW,
  WAY_TITLES,
  WAYS,
  type Way,
} from './types.ts';

/** All tables, the failures and the targets. */
export function renderReport(cells: readonly Cell[]): string {
  const ways = WAYS.filter((way) => cells.some((cell) => cell.way === way));
  const tables = ways.flatMap((way) => {
    const own = cells.filter((cell) => cell.way === way);
    const images = own.filter(({ load }) => load.kind === 'image');
    const title = WAY_TITLES[way];
    return [
      renderTable(
        `${title}: ms from the request to the file (times the floor)`,
        own,
        describeMs(({ ms }) => ms),
      ),
      renderRatios(`${title}: time of Filechat relative to each client`, own),
      renderTable(
        `${title}: ms including fsync`,
        images,
        describeMs(({ durableMs }) => durableMs),
      ),
      renderTable(`${title}: peak RSS above idle, MB`, own, ({ outcome }) => describe(outcome, rssMb)),
      renderTable(`${title}: longest event loop delay, ms`, own, ({ outcome }) => describe(outcome, delayMs)),
    ];
  });
  return [...tables, renderGrowth(cells, ways), renderFailures(cells), `Targets\n${renderTargets(cells)}`]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** One line for the progress of the bench. */
export function describeOutcome(outcome: Outcome): string {
  return describe(
    outcome,
    (each) => `${Math.round(each.ms)} ms, +${rssMb(each)} MB, delay ${delayMs(each)} ms`,
  );
}

function renderTable(title: string, cells: readonly Cell[], describeCell: DescribeCell): string {
  if (cells.length === 0) return '';
  const clients = CLIENTS.filter((client) => cells.some((cell) => cell.client === client));
  const rows = Map.groupBy(cells, ({ load }) => nameLoad(load));
  const lines = [...rows].map(([name, row]) => {
    const find = (client: ClientName) => row.find((cell) => cell.client === client);
    const floor = find('floor');
    const texts = clients.map((client) => {
      const cell = find(client);
      return cell === undefined ? '' : describeCell(cell, floor);
    });
    return [name, ...texts];
  });
  const head = ['', ...clients.map((client) => CLIENT_TITLES[client])];
  return `${title}\n${alignColumns([head, ...lines])}`;
}

/** Below 1, Filechat is faster. */
function renderRatios(title: string, cells: readonly Cell[]): string {
  const clients = CLIENTS.filter(
    (client) => client !== 'ours' && cells.some((cell) => cell.client === client),
  );
  const rows = [...Map.groupBy(cells, ({ load }) => nameLoad(load))].map(([name, row]) => {
    const find = (client: ClientName) => row.find((cell) => cell.client === client)?.outcome;
    return [name, ...clients.map((client) => ratioTo(find('ours'), find(client)))];
  });
  if (clients.length === 0 || cells.every(({ client }) => client !== 'ours')) return '';
  return `${title}\n${alignColumns([['', ...clients.map((client) => CLIENT_TITLES[client])], ...rows])}`;
}

function ratioTo(ours: Outcome | undefined, other: Outcome | undefined): string {
  if (ours?.kind !== 'measured') return '–';
  if (other?.kind === 'measured') return `${round(ours.ms / other.ms)}×`;
  return other?.kind === 'tooSlow' ? `< ${round(ours.ms / LIMIT_MS)}×` : '–';
}

function renderGrowth(cells: readonly Cell[], ways: readonly Way[]): string {
  const clients = CLIENTS.filter((client) => ways.some((way) => growth(cells, way, client) !== undefined));
  if (clients.length === 0) return '';
  const rows = ways.map((way) => [
    WAY_TITLES[way],
    ...clients.map((client) => growth(cells, way, client)?.toFixed(1) ?? '–'),
  ]);
  const head = ['', ...clients.map((client) => CLIENT_TITLES[client])];
  return `Time of 256 MB as a multiple of the time of 32 MB\n${alignColumns([head, ...rows])}`;
}

type DescribeCell = (cell: Cell, floor: Cell | undefined) => string;

function describeMs(pick: (measurement: Measurement) => number | undefined): DescribeCell {
  return ({ client, outcome }, floor) =>
    describe(outcome, (measurement) => {
      const ms = pick(measurement);
      if (ms === undefined) return '–';
      const floorMs = floor?.outcome.kind === 'measured' ? pick(floor.outcome) : undefined;
      const ratio = floorMs === undefined || client === 'floor' ? '' : ` (${(ms / floorMs).toFixed(2)}×)`;
      return `${showMs(ms)}${ratio}`;
    });
}

function describe(outcome: Outcome, of: (measurement: Measurement) => string): string {
  return outcome.kind === 'measured' ? of(outcome) : UNMEASURED[outcome.kind];
}

function rssMb({ rssBytes }: Measurement): string {
  return (rssBytes / 1e6).toFixed(0);
}

function delayMs({ loopDelayMs }: Measurement): string {
  return loopDelayMs.toFixed(loopDelayMs < 100 ? 1 : 0);
}

const UNMEASURED: Readonly<Record<Exclude<Outcome['kind'], 'measured'>, string>> = {
  tooSlow: TOO_SLOW,
  failed: 'failed',
  wrong: 'WRONG',
  skipped: '–',
};

function renderFailures(cells: readonly Cell[]): string {
  return cells
    .flatMap(({ way, load, client, outcome }) =>
      'reason' in outcome
        ? `${WAY_TITLES[way]}, ${nameLoad(load)}, ${CLIENT_TITLES[client]} ${outcome.kind}: ${outcome.reason}`
        : [],
    )
    .join('\n');
}

interface Limit {
  readonly max: number;
  readonly unit: string;
  /** The sizes in MB that the figure comes from. */
  readonly sizes: readonly number[];
}

const MAX_RATIO: Readonly<Record<Way, number>> = { stdio: 1.2, json: 1.4, sse: 1.4 };
const MEMORY: Limit = { max: 50, unit: ' MB', sizes: [256] };
const MEMORY_RISE: Limit = { max: 15, unit: ' MB', sizes: [32, 256] };
const GROWTH: Limit = { max: 9, unit: '×', sizes: [32, 256] };
const DELAY: Limit = { max: 50, unit: ' ms', sizes: [128] };

/** The targets of Filechat's client, a line for each way and figure. */
function renderTargets(cells: readonly Cell[]): string {
  const targets = [...WAYS.flatMap((way) => judgeWay(cells, way)), judgeBytes(cells)];
  return targets.map(([verdict, text]) => `${verdict.padEnd(8)} ${text}`).join('\n');
}

type Target = readonly [verdict: string, text: string];

function judgeWay(cells: readonly Cell[], way: Way): readonly Target[] {
  const find = (client: ClientName, mb: number) => findImage(cells, way, client, mb);
  const [ours, floor] = [find('ours', 128), find('floor', 128)];
  const [small, large] = [find('ours', 32), find('ours', 256)];
  const ratio = { max: MAX_RATIO[way], unit: '×', sizes: [128] };
  const judge = (what: string, value: number | undefined, limit: Limit): Target => {
    const figure = value === undefined ? 'no figure' : `${round(value)}${limit.unit}`;
    const text = `${WAY_TITLES[way]}: ${what}: ${figure}, at most ${limit.max}${limit.unit}`;
    return [verdictOf(value, limit, cells, way), text];
  };
  const rise = small && large && Math.abs(large.rssBytes - small.rssBytes) / 1e6;
  return [
    judge('time of 128 MB relative to the floor', ours && floor && ours.ms / floor.ms, ratio),
    judge('memory above idle at 256 MB', large && large.rssBytes / 1e6, MEMORY),
    judge('memory at 256 MB relative to 32 MB', rise, MEMORY_RISE),
    judge('time of 256 MB relative to 32 MB', growth(cells, way, 'ours'), GROWTH),
    judge('event loop delay at 128 MB', ours?.loopDelayMs, DELAY),
  ];
}

/** A figure that is missing because Filechat failed is a missed target. */
function verdictOf(
  value: number | undefined,
  { max, sizes }: Limit,
  cells: readonly Cell[],
  way: Way,
): string {
  if (value !== undefined) return showVerdict(value <= max);
  const ours = cells.filter((cell) => cell.client === 'ours' && cell.way === way);
  const failed = ours.some(
    ({ load, outcome }) => load.kind === 'image' && sizes.includes(load.mb) && outcome.kind !== 'measured',
  );
  return failed ? 'MISSED' : '–';
}

function judgeBytes(cells: readonly Cell[]): Target {
  const wrong = cells.filter(({ outcome }) => outcome.kind === 'wrong').length;
  const checked = cells.filter(({ outcome }) => outcome.kind === 'measured').length + wrong;
  const text = `bytes equal by SHA-256 in ${checked - wrong} of ${checked} cells`;
  return [checked === 0 ? '–' : showVerdict(wrong === 0), text];
}

function round(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

/** Undefined if it was not measured. */
function findImage(
  cells: readonly Cell[],
  way: Way,
  client: ClientName,
  mb: number,
): Measurement | undefined {
  const found = cells.find(
    (cell) => cell.way === way && cell.client === client && cell.load.kind === 'image' && cell.load.mb === mb,
  );
  return found?.outcome.kind === 'measured' ? found.outcome : undefined;
}

function growth(cells: readonly Cell[], way: Way, client: ClientName): number | undefined {
  const small = findImage(cells, way, client, 32);
  const large = findImage(cells, way, client, 256);
  return small && large && large.ms / small.ms;
}
