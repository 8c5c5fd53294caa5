/** By id, so that it survives changes of the list. */
export interface Selection {
  readonly active: string | undefined;
  /** The start of a range. */
  readonly anchor: string | undefined;
  readonly chosen: ReadonlySet<string>;
}

export const NOTHING: Selection = { active: undefined, anchor: undefined, chosen: new Set() };

export function choose(id: string): Selection {
  return { active: id, anchor: id, chosen: new Set([id]) };
}

export function toggle({ chosen }: Selection, id: string): Selection {
  const next = new Set(chosen);
  if (!next.delete(id)) next.add(id);
  return { active: id, anchor: id, chosen: next };
}

/** Selects from the anchor to here, in the displayed order. */
export function extend(selection: Selection, id: string, shown: readonly string[]): Selection {
  const from = shown.indexOf(selection.anchor ?? selection.active ?? id);
  const to = shown.indexOf(id);
  if (from < 0 || to < 0) return choose(id);
  const range = shown.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { active: id, anchor: shown[from], chosen: new Set(range) };
}

export function chooseAll({ active, anchor }: Selection, shown: readonly string[]): Selection {
  return { active: active ?? shown[0], anchor, chosen: new Set(shown) };
}

/** Deselects hidden items, so that nothing invisible is deleted. Keeps the active position if possible. */
export function keepShown(selection: Selection, shown: readonly string[], activeIndex: number): Selection {
  const known = new Set(shown);
  const { active, anchor, chosen } = selection;
  const stays = active !== undefined && known.has(active);
  return {
    active: stays ? active : shown[Math.min(Math.max(0, activeIndex), shown.length - 1)],
    anchor: anchor !== undefined && known.has(anchor) ? anchor : undefined,
    chosen: new Set([...chosen].filter((id) => known.has(id))),
  };
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

interface Moves {
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
