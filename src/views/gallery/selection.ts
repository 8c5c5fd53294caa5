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
