import {
  type Colour,
  createCanvas,
  drawLine,
  drawText,
  fillRectangle,
  fitText,
  measureText,
  type Point,
} from './draw.ts';
import type { RgbaImage } from './encode/png.ts';

export interface Chart {
  readonly title: string;
  readonly values: readonly number[];
  /** One for each value; missing ones are numbered. */
  readonly labels?: readonly string[] | undefined;
  readonly style: 'bars' | 'line';
}

const WIDTH = 640;
const HEIGHT = 400;
const PLOT = { left: 72, right: 616, top: 86, bottom: 352 };
const TEXT_SCALE = 2;

const BACKGROUND: Colour = 0xffffff;
const INK: Colour = 0x24292f;
const MUTED: Colour = 0x6e7781;
const GRID: Colour = 0xe4e8ec;
const SERIES: Colour = 0x2f6fde;
const HIGHLIGHT: Colour = 0xf0883e;

export function drawChart(chart: Chart): RgbaImage {
  const canvas = createCanvas(WIDTH, HEIGHT, BACKGROUND);
  const scale = chooseScale(chart.values);
  const heightOf = (value: number): number =>
    PLOT.bottom - ((value - scale.low) / (scale.high - scale.low)) * (PLOT.bottom - PLOT.top);

  drawText(canvas, fitText(chart.title, WIDTH - 48, 3), { x: 24, y: 20 }, { colour: INK, scale: 3 });
  drawGrid(canvas, scale, heightOf);
  const points = placePoints(chart.values, heightOf);
  if (chart.style === 'line') drawSeriesLine(canvas, points);
  else drawBars(canvas, points, heightOf(0));
  drawLabels(canvas, chart, points);
  return canvas;
}

/** Where a value stands: the middle of its column, its height, and how wide the column is. */
interface ValuePoint extends Point {
  readonly value: number;
  readonly room: number;
  readonly largest: boolean;
}

function placePoints(values: readonly number[], heightOf: (value: number) => number): ValuePoint[] {
  const room = (PLOT.right - PLOT.left) / values.length;
  const largest = values.indexOf(Math.max(...values));
  return values.map((value, i) => ({
    x: PLOT.left + room * (i + 0.5),
    y: heightOf(value),
    value,
    room,
    largest: i === largest,
  }));
}

interface Scale {
  readonly low: number;
  readonly high: number;
  readonly step: number;
}

/** Zero is always shown, and the gridlines stand at round numbers: 1, 2 or 5 times a power of ten. */
function chooseScale(values: readonly number[]): Scale {
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const rough = (high - low || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const top = Math.ceil(high / step) * step;
  return { low: Math.floor(low / step) * step, high: top === low ? top + step : top, step };
}

function drawGrid(canvas: RgbaImage, scale: Scale, heightOf: (value: number) => number): void {
  const lines = Math.round((scale.high - scale.low) / scale.step);
  for (let i = 0; i <= lines; i++) {
    const value = scale.low + i * scale.step;
    const y = Math.round(heightOf(value));
    fillRectangle(canvas, { x: PLOT.left, y, width: PLOT.right - PLOT.left, height: 1 }, GRID);
    const at = { x: PLOT.left - 10, y: y - 7 };
    drawText(canvas, formatValue(value), at, { colour: MUTED, scale: TEXT_SCALE, align: 'right' });
  }
  const base = Math.round(heightOf(0));
  fillRectangle(canvas, { x: PLOT.left, y: base - 1, width: PLOT.right - PLOT.left, height: 2 }, MUTED);
  fillRectangle(
    canvas,
    { x: PLOT.left - 2, y: PLOT.top, width: 2, height: PLOT.bottom - PLOT.top + 1 },
    MUTED,
  );
}

function drawBars(canvas: RgbaImage, points: readonly ValuePoint[], base: number): void {
  for (const { x, y, room, largest } of points) {
    const width = Math.min(room * 0.62, 80);
    const bar = { x: x - width / 2, y: Math.min(y, base), width, height: Math.abs(base - y) };
    fillRectangle(canvas, bar, largest ? HIGHLIGHT : SERIES);
  }
}

function drawSeriesLine(canvas: RgbaImage, points: readonly ValuePoint[]): void {
  for (const [i, point] of points.entries()) {
    drawLine(canvas, points[i - 1] ?? point, point, { colour: SERIES, width: 4 });
  }
  for (const point of points) {
    drawLine(canvas, point, point, { colour: BACKGROUND, width: 14 });
    drawLine(canvas, point, point, { colour: point.largest ? HIGHLIGHT : SERIES, width: 10 });
  }
}

function drawLabels(canvas: RgbaImage, chart: Chart, points: readonly ValuePoint[]): void {
  for (const [i, { x, y, value, room }] of points.entries()) {
    const label = fitText(chart.labels?.[i] ?? String(i + 1), room - 4, TEXT_SCALE);
    drawText(canvas, label, { x, y: PLOT.bottom + 14 }, { colour: INK, scale: TEXT_SCALE, align: 'centre' });
    const text = formatValue(value);
    if (measureText(text, TEXT_SCALE) > room) continue;
    const above = value < 0 ? y + 10 : y - 24;
    drawText(canvas, text, { x, y: above }, { colour: INK, scale: TEXT_SCALE, align: 'centre' });
  }
}

function formatValue(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.01) return value.toExponential(0);
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 }).format(value);
}
