/** The geometry of a grid that only renders its visible rows. */
export interface GridLayout {
  readonly columns: number;
  readonly rows: number;
  readonly tileWidth: number;
  /** Including the gap below. */
  readonly rowHeight: number;
  /** Of all rows. */
  readonly height: number;
}

export interface GridSpace {
  readonly width: number;
  readonly count: number;
  readonly minTileWidth: number;
  readonly tileHeight: number;
  readonly gap: number;
}

/** As many columns as fit; tiles share the remaining width. */
export function layoutGrid({ width, count, minTileWidth, tileHeight, gap }: GridSpace): GridLayout {
  const columns = Math.max(1, Math.floor((width + gap) / (minTileWidth + gap)));
  const rows = Math.ceil(count / columns);
  const tileWidth = Math.max(1, Math.floor((width - gap * (columns - 1)) / columns));
  const rowHeight = tileHeight + gap;
  return { columns, rows, tileWidth, rowHeight, height: Math.max(0, rows * rowHeight - gap) };
}

export interface Viewport {
  readonly top: number;
  readonly height: number;
}

/** The rows to render, with some beyond the edges; `end` is exclusive. */
export function visibleRows(
  { rows, rowHeight }: Pick<GridLayout, 'rows' | 'rowHeight'>,
  { top, height }: Viewport,
  beyond = 2,
): { readonly start: number; readonly end: number } {
  const start = Math.min(rows, Math.max(0, Math.floor(top / rowHeight) - beyond));
  const end = Math.min(rows, Math.max(start, Math.ceil((top + height) / rowHeight) + beyond));
  return { start, end };
}

/** The smallest scroll that makes a row fully visible. */
export function scrollToRow(
  { rowHeight }: Pick<GridLayout, 'rowHeight'>,
  { top, height }: Viewport,
  row: number,
): number {
  const rowTop = row * rowHeight;
  if (rowTop < top) return rowTop;
  return rowTop + rowHeight > top + height ? Math.max(0, rowTop + rowHeight - height) : top;
}

const STEPS: Readonly<Record<string, (at: number, grid: Moves) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  ArrowUp: (at, { columns }) => (at >= columns ? at - columns : at),
  ArrowDown: (at, { columns, count }) => downFrom(at, columns, count),
  PageUp: (at, { columns, pageRows }) => Math.max(at % columns, at - columns * pageRows),
  PageDown: (at, { columns, count, pageRows }) => Math.min(count - 1, at + columns * pageRows),
  Home: () => 0,
  End: (_at, { count }) => count - 1,
};

export interface Moves {
  readonly columns: number;
  readonly count: number;
  readonly pageRows: number;
}

/** Returns undefined for keys that do not move. */
export function moveBy(key: string, at: number, grid: Moves): number | undefined {
  const step = Object.hasOwn(STEPS, key) ? STEPS[key] : undefined;
  if (!step || grid.count === 0) return undefined;
  return Math.min(grid.count - 1, Math.max(0, step(Math.max(0, at), grid)));
}

/** The last row may be shorter: from above its gap, move to the last tile. */
function downFrom(at: number, columns: number, count: number): number {
  if (at + columns < count) return at + columns;
  const lastRow = Math.floor((count - 1) / columns);
  return Math.floor(at / columns) < lastRow ? count - 1 : at;
}
