import { judgeBars } from './bars.ts';
import { CLIENT_TITLES, growth, TOO_SLOW, WAY_TITLES } from './lookUp.ts';
import {
  type Cell,
  CLIENTS,
  type ClientName,
  type Measurement,
  nameLoad,
  type Outcome,
  type Results,
  WAYS,
  type Way,
} from './types.ts';

/** All tables, the bars and the failures, as text for a terminal. */
export function renderReport(results: Results): string {
  const { cells } = results;
  const ways = WAYS.filter((way) => cells.some((cell) => cell.way === way));
  const tables = ways.flatMap((way) => {
    const own = cells.filter((cell) => cell.way === way);
    const title = WAY_TITLES[way];
    return [
      renderTable(`${title}: ms from the request to the file (times the floor)`, own, describeTime),
      renderTable(
        `${title}: the same until it survives a power cut (fsync)`,
        own.filter(isImage),
        describeDurable,
      ),
      renderTable(`${title}: peak RSS above idle, MB`, own, (cell) => describe(cell, rssMb)),
      renderTable(`${title}: longest event loop delay, ms`, own, (cell) => describe(cell, delayMs)),
    ];
  });
  return [
    `Node ${results.node}, ${results.machine}, ${results.date}`,
    ...tables,
    renderGrowth(cells, ways),
    renderFailures(cells),
    `What must hold\n${judgeBars(cells).map(renderBar).join('\n')}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function isImage({ load }: Cell): boolean {
  return load.kind === 'image';
}

/** For the line that tells of progress. */
export function describeOutcome(outcome: Outcome): string {
  if (outcome.kind !== 'measured') return describeUnmeasured(outcome);
  return `${Math.round(outcome.ms)} ms, +${rssMb(outcome)} MB, delay ${delayMs(outcome)} ms`;
}

function renderTable(
  title: string,
  cells: readonly Cell[],
  describeCell: (cell: Cell, floor: Cell | undefined) => string,
): string {
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

/** How much longer eight times the bytes take. */
function renderGrowth(cells: readonly Cell[], ways: readonly Way[]): string {
  const clients = CLIENTS.filter((client) => ways.some((way) => growth(cells, way, client) !== undefined));
  if (clients.length === 0) return '';
  const rows = ways.map((way) => [
    WAY_TITLES[way],
    ...clients.map((client) => growth(cells, way, client)?.toFixed(1) ?? '–'),
  ]);
  const head = ['', ...clients.map((client) => CLIENT_TITLES[client])];
  return `256 MB takes so many times as long as 32 MB\n${alignColumns([head, ...rows])}`;
}

function describeTime(cell: Cell, floor: Cell | undefined): string {
  return describeMs(cell, floor, ({ ms }) => ms);
}

function describeDurable(cell: Cell, floor: Cell | undefined): string {
  return describeMs(cell, floor, ({ durableMs }) => durableMs);
}

function describeMs(
  cell: Cell,
  floor: Cell | undefined,
  pick: (measurement: Measurement) => number | undefined,
): string {
  if (cell.outcome.kind !== 'measured') return describeUnmeasured(cell.outcome);
  const ms = pick(cell.outcome);
  if (ms === undefined) return '–';
  const floorMs = floor?.outcome.kind === 'measured' ? pick(floor.outcome) : undefined;
  const ratio = floorMs === undefined || cell.client === 'floor' ? '' : ` (${(ms / floorMs).toFixed(2)}×)`;
  return `${ms < 100 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')}${ratio}`;
}

function describe({ outcome }: Cell, of: (measurement: Measurement) => string): string {
  return outcome.kind === 'measured' ? of(outcome) : describeUnmeasured(outcome);
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

function describeUnmeasured(outcome: Exclude<Outcome, { kind: 'measured' }>): string {
  return UNMEASURED[outcome.kind];
}

function renderFailures(cells: readonly Cell[]): string {
  return cells
    .flatMap(({ way, load, client, outcome }) =>
      'reason' in outcome
        ? `${WAY_TITLES[way]}, ${nameLoad(load)}, ${CLIENT_TITLES[client]} ${outcome.kind}: ${outcome.reason}`
        : [],
    )
    .join('\n');
}

function renderBar({ verdict, text }: ReturnType<typeof judgeBars>[number]): string {
  return `${verdict.padEnd(8)} ${text}`;
}

export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, column) =>
          column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
        )
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}
