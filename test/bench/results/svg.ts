import type { Conditions } from '../frame.ts';
import {
  type Cell,
  CLIENT_TITLES,
  type ClientName,
  LIMIT_MS,
  TOO_SLOW,
  WAY_TITLES,
  WAYS,
  type Way,
} from './types.ts';

export interface Results extends Conditions {
  readonly cells: readonly Cell[];
}

/** Time by size, a panel for each way, both scales logarithmic. White, so that it is readable in any theme. */
export function drawChart(results: Results): string {
  const images = results.cells.filter(({ load }) => load.kind === 'image');
  const ways = WAYS.filter((way) => images.some((cell) => cell.way === way));
  const width = 2 * MARGIN + ways.length * PANEL_WIDTH + (ways.length - 1) * GAP + AXIS_WIDTH;
  const scale = scaleOf(images);
  const panels = ways.map((way, index) => {
    const left = MARGIN + AXIS_WIDTH + index * (PANEL_WIDTH + GAP);
    const own = images.filter((cell) => cell.way === way);
    return `<g transform="translate(${left} ${TOP})">${drawPanel({ way, cells: own, scale, withLabels: index === 0 })}</g>`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${TITLE}" font-family="${FONT}" font-size="12" fill="${INK}">`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${HEIGHT - 1}" rx="8" fill="#ffffff" stroke="${RULE}"/>`,
    text([MARGIN, 34], TITLE, 'font-size="17" font-weight="600"'),
    text([MARGIN, 54], SUBTITLE, `fill="${FAINT}"`),
    drawLegend(clientsOf(images)),
    text(
      [0, 0],
      AXIS_TITLE_Y,
      `transform="translate(${MARGIN + 4} ${TOP + PANEL_HEIGHT / 2}) rotate(-90)" ${MIDDLE}`,
    ),
    ...panels,
    text(
      [MARGIN, HEIGHT - 16],
      `Node ${results.node}, ${results.machine}, ${results.date.slice(0, 10)}`,
      `fill="${FAINT}" font-size="11"`,
    ),
    '</svg>',
  ].join('\n')}\n`;
}

const TITLE = 'One large image in a tool result, from the request to the file';
const SUBTITLE =
  'Lower is better. The floor only reads, decodes and writes. A client is stopped after 60 s (✕).';
const AXIS_TITLE_X = 'MB of base64 (log scale)';
const AXIS_TITLE_Y = 'time (log scale)';
const FONT = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif";
const [INK, FAINT, RULE, GRID] = ['#1f2328', '#59636e', '#d1d9e0', '#eaeef2'];
const MARGIN = 24;
const AXIS_WIDTH = 66;
const PANEL_WIDTH = 250;
const PANEL_HEIGHT = 270;
const GAP = 22;
const TOP = 128;
const HEIGHT = TOP + PANEL_HEIGHT + 78;
const MIDDLE = 'text-anchor="middle"';

/** Dashes and marks differ too, because lines overlap, and because of color blindness. */
const LOOKS: Readonly<Record<ClientName, Look>> = {
  floor: look('#6e7781', 'stroke-width="2" stroke-dasharray="2 4" stroke-linecap="round"', () => ''),
  ours: look('#0969da', 'stroke-width="3"', (x, y) => `<circle cx="${x}" cy="${y}" r="4"/>`),
  sdk2: look('#bc4c00', 'stroke-width="2"', (x, y) => `<path d="M${x - 3.5} ${y - 3.5}h7v7h-7z"/>`),
  sdk1: look(
    '#8250df',
    'stroke-width="2" stroke-dasharray="6 4"',
    (x, y) => `<path d="M${x} ${y - 4.5}l4.5 4.5-4.5 4.5-4.5-4.5z"/>`,
  ),
};

interface Look {
  readonly color: string;
  readonly line: string;
  readonly mark: (x: number, y: number) => string;
}

function look(color: string, line: string, mark: Look['mark']): Look {
  return { color, line, mark };
}

/** Filechat last, so that nothing covers it. */
const DRAWING_ORDER: readonly ClientName[] = ['floor', 'sdk2', 'sdk1', 'ours'];

interface Scale {
  readonly sizes: readonly number[];
  readonly minMs: number;
  x(mb: number): number;
  y(ms: number): number;
}

function scaleOf(cells: readonly Cell[]): Scale {
  const sizes = [...new Set(cells.map(sizeOf))].sort((a, b) => a - b);
  const [first = 1, last = 1] = [sizes[0], sizes.at(-1)];
  const times = cells.flatMap(({ outcome }) => (outcome.kind === 'measured' ? outcome.ms : []));
  const minMs = Math.min(1000, 10 ** Math.floor(Math.log10(Math.min(...times))));
  // Room above the limit for clients that were stopped there.
  const maxMs = LIMIT_MS * 1.8;
  const inset = 14;
  const share = (value: number, from: number, to: number) =>
    from === to ? 0.5 : Math.log(value / from) / Math.log(to / from);
  return {
    sizes,
    minMs,
    x: (mb) => tenth(inset + share(mb, first, last) * (PANEL_WIDTH - 2 * inset)),
    y: (ms) => tenth(PANEL_HEIGHT * (1 - share(ms, minMs, maxMs))),
  };
}

interface Panel {
  readonly way: Way;
  readonly cells: readonly Cell[];
  readonly scale: Scale;
  /** Only the first panel labels the shared axis. */
  readonly withLabels: boolean;
}

function drawPanel({ way, cells, scale, withLabels }: Panel): string {
  const clients = DRAWING_ORDER.filter((client) => cells.some((cell) => cell.client === client));
  return [
    text([0, -12], WAY_TITLES[way], 'font-size="13" font-weight="600"'),
    drawGrid(scale, withLabels),
    ...clients.map((client) => drawLine(client, cells, scale)),
    text([PANEL_WIDTH / 2, PANEL_HEIGHT + 36], AXIS_TITLE_X, MIDDLE),
  ].join('\n');
}

function drawGrid({ sizes, minMs, x, y }: Scale, withLabels: boolean): string {
  const parts: string[] = [];
  const rule = (ms: number, label: string, look: string) => {
    parts.push(`<path d="M0 ${y(ms)}H${PANEL_WIDTH}" stroke="${look}"/>`);
    if (withLabels) parts.push(text([-8, y(ms) + 4], label, `text-anchor="end" fill="${FAINT}"`));
  };
  for (let ms = minMs; ms < LIMIT_MS; ms *= 10)
    rule(ms, ms < 1000 ? `${ms} ms` : `${ms / 1000} s`, ms === minMs ? RULE : GRID);
  rule(LIMIT_MS, TOO_SLOW, `${RULE}" stroke-dasharray="3 3`);
  for (const mb of sizes)
    parts.push(text([x(mb), PANEL_HEIGHT + 18], String(mb), `${MIDDLE} fill="${FAINT}"`));
  return parts.join('\n');
}

/** The line of a client that was stopped ends with a cross at the limit. */
function drawLine(client: ClientName, cells: readonly Cell[], { x, y }: Scale): string {
  const { color, line, mark } = LOOKS[client];
  const points: string[] = [];
  const marks: string[] = [];
  const own = cells.filter((cell) => cell.client === client);
  for (const cell of own.toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const { outcome } = cell;
    if (outcome.kind !== 'measured' && outcome.kind !== 'tooSlow') continue;
    const [left, top] = [x(sizeOf(cell)), y(outcome.kind === 'measured' ? outcome.ms : LIMIT_MS)];
    points.push(`${left},${top}`);
    marks.push(outcome.kind === 'measured' ? mark(left, top) : cross(left, top));
  }
  return `<g fill="${color}" stroke="none"><polyline points="${points.join(' ')}" fill="none" stroke="${color}" ${line}/><g stroke="${color}" stroke-width="0">${marks.join('')}</g></g>`;
}

function cross(x: number, y: number): string {
  return `<path d="M${x - 5} ${y - 5}l10 10m0-10l-10 10" stroke-width="2"/>`;
}

function drawLegend(clients: readonly ClientName[]): string {
  const parts = clients.map((client, index) => {
    const { color, line, mark } = LOOKS[client];
    const left = index * 110;
    return `<g fill="${color}"><path d="M${left} 0h28" fill="none" stroke="${color}" ${line}/>${mark(left + 14, 0)}</g>${text([left + 36, 4], CLIENT_TITLES[client])}`;
  });
  return `<g transform="translate(${MARGIN} 80)">${parts.join('')}</g>`;
}

function clientsOf(cells: readonly Cell[]): readonly ClientName[] {
  return DRAWING_ORDER.toReversed().filter((client) => cells.some((cell) => cell.client === client));
}

function sizeOf({ load }: Cell): number {
  return load.kind === 'image' ? load.mb : 0;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

function text([x, y]: readonly [number, number], words: string, look = ''): string {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${x}" y="${y}" ${look}>${safe}</text>`;
}
