import type { GalleryItem } from '../items.ts';
import { type GridLayout, layoutGrid, scrollToRow, visibleRows } from '../layout.ts';
import type { Selection } from '../selection.ts';
import { element } from './dom.ts';
import { makeTile, type TileDeps } from './tile.ts';

const MIN_TILE_WIDTH = 168;
const TILE_HEIGHT = 196;
const GAP = 12;
/** Above the first row. */
const PADDING = 14;

interface Row {
  readonly element: HTMLElement;
  readonly items: readonly GalleryItem[];
  readonly columns: number;
}

/** Renders only visible rows and the row of the active tile. */
export class Grid {
  readonly scroller: HTMLElement;
  readonly #grid: HTMLElement;
  readonly #deps: TileDeps;
  readonly #rows = new Map<number, Row>();
  #items: readonly GalleryItem[] = [];
  #selection: Selection;
  #layout: GridLayout;

  constructor(deps: TileDeps, selection: Selection, onScroll: () => void) {
    this.#deps = deps;
    this.#selection = selection;
    this.#grid = element('div', {
      class: 'grid',
      attributes: { role: 'grid', 'aria-label': deps.words.assets, 'aria-multiselectable': 'true' },
    });
    this.scroller = element('div', { class: 'scroller' }, [this.#grid]);
    this.#layout = this.#measure();
    this.scroller.addEventListener('scroll', () => {
      this.#render();
      onScroll();
    });
    new ResizeObserver(() => this.#relayout()).observe(this.scroller);
  }

  get columns(): number {
    return this.#layout.columns;
  }

  /** The number of rows that fit on a page. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.#layout.rowHeight));
  }

  show(items: readonly GalleryItem[], selection: Selection): void {
    this.#items = items;
    this.#selection = selection;
    this.#grid.hidden = items.length === 0;
    this.#relayout();
  }

  select(selection: Selection): void {
    this.#selection = selection;
    this.#render();
  }

  /** Scrolls to a tile and focuses it. */
  goTo(id: string): void {
    const index = this.#items.findIndex((item) => item.id === id);
    if (index < 0) return;
    const { clientHeight: height, scrollTop } = this.scroller;
    const top = scrollTop - PADDING;
    const to = scrollToRow(this.#layout, { top, height }, Math.floor(index / this.columns));
    if (to !== top) this.scroller.scrollTop = to < top ? to : to + PADDING;
    this.#render();
    this.#tile(id)?.focus({ preventScroll: true });
  }

  #hasFocus(): boolean {
    return this.#grid.contains(document.activeElement);
  }

  playVideo(id: string): void {
    this.#tile(id)?.querySelector<HTMLButtonElement>('.play')?.click();
  }

  #tile(id: string): HTMLElement | undefined {
    for (const { element: row } of this.#rows.values()) {
      for (const tile of row.children) {
        if (tile instanceof HTMLElement && tile.dataset['id'] === id) return tile;
      }
    }
    return undefined;
  }

  #measure(): GridLayout {
    return layoutGrid({
      width: this.#grid.clientWidth,
      count: this.#items.length,
      minTileWidth: MIN_TILE_WIDTH,
      tileHeight: TILE_HEIGHT,
      gap: GAP,
    });
  }

  #relayout(): void {
    this.#layout = this.#measure();
    const { columns, rows, height, tileWidth } = this.#layout;
    this.#grid.style.height = `${height}px`;
    this.#grid.style.setProperty('--tile-width', `${tileWidth}px`);
    this.#grid.setAttribute('aria-rowcount', String(rows));
    this.#grid.setAttribute('aria-colcount', String(columns));
    this.#render();
  }

  #render(): void {
    const { scrollTop: top, clientHeight: height } = this.scroller;
    if (height === 0) return;
    const { start, end } = visibleRows(this.#layout, { top, height });
    const wanted = new Set(Array.from({ length: end - start }, (_, at) => start + at));
    const active = this.#items.findIndex(({ id }) => id === this.#selection.active);
    // Removing the focused tile would lose the keyboard focus.
    if (active >= 0) wanted.add(Math.floor(active / this.columns));
    const focused = this.#hasFocus();
    for (const [at, row] of this.#rows) {
      if (wanted.has(at) && this.#isCurrent(at, row)) continue;
      row.element.remove();
      this.#rows.delete(at);
    }
    for (const at of [...wanted].sort((a, b) => a - b)) if (!this.#rows.has(at)) this.#addRow(at);
    this.#paint(active < 0 ? this.#items[0]?.id : this.#selection.active, focused);
  }

  #isCurrent(at: number, { items, columns }: Row): boolean {
    const now = this.#itemsOf(at);
    return (
      columns === this.columns &&
      items.length === now.length &&
      items.every((item, index) => item === now[index])
    );
  }

  #itemsOf(row: number): readonly GalleryItem[] {
    return this.#items.slice(row * this.columns, (row + 1) * this.columns);
  }

  #addRow(at: number): void {
    const items = this.#itemsOf(at);
    const tiles = items.map((item) => makeTile(item, this.#deps));
    for (const [index, tile] of tiles.entries()) tile.setAttribute('aria-colindex', String(index + 1));
    const attributes = { role: 'row', 'aria-rowindex': String(at + 1) };
    const row = element('div', { class: 'row', attributes }, tiles);
    row.style.transform = `translateY(${at * this.#layout.rowHeight}px)`;
    this.#rows.set(at, { element: row, items, columns: this.columns });
    // In document order, which is the reading order.
    const behind = [...this.#rows].filter(([each]) => each > at).sort(([a], [b]) => a - b)[0];
    this.#grid.insertBefore(row, behind?.[1].element ?? null);
  }

  #paint(active: string | undefined, focused: boolean): void {
    const { chosen } = this.#selection;
    for (const { element: row } of this.#rows.values()) {
      for (const tile of row.children) {
        if (!(tile instanceof HTMLElement)) continue;
        const id = tile.dataset['id'] ?? '';
        tile.setAttribute('aria-selected', String(chosen.has(id)));
        tile.tabIndex = id === active ? 0 : -1;
        if (id === active && focused && !this.#hasFocus()) tile.focus({ preventScroll: true });
      }
    }
  }
}
