import type { GalleryItem } from '../items.ts';
import type { Selection } from '../selection.ts';
import { element } from './dom.ts';
import { makeTile, type TileDeps } from './tile.ts';

const MIN_TILE_WIDTH = 168;
const GAP = 12;
/** Including the gap below. */
const ROW_HEIGHT = 196 + GAP;
/** Rows that are rendered beyond each edge. */
const ROWS_BEYOND = 2;

interface Row {
  readonly element: HTMLElement;
  readonly items: readonly GalleryItem[];
}

/** Renders only visible rows and the row of the active tile. */
export class Grid {
  readonly scroller: HTMLElement;
  readonly #grid: HTMLElement;
  readonly #deps: TileDeps;
  readonly #rows = new Map<number, Row>();
  #items: readonly GalleryItem[] = [];
  #selection: Selection;
  #columns = 1;

  constructor(deps: TileDeps, selection: Selection, onScroll: () => void) {
    this.#deps = deps;
    this.#selection = selection;
    this.#grid = element('div', {
      class: 'grid',
      attributes: { role: 'grid', 'aria-label': deps.words.assets, 'aria-multiselectable': 'true' },
    });
    this.scroller = element('div', { class: 'scroller' }, [this.#grid]);
    this.scroller.addEventListener('scroll', () => {
      this.#render();
      onScroll();
    });
    new ResizeObserver(() => this.#relayout()).observe(this.scroller);
  }

  get columns(): number {
    return this.#columns;
  }

  /** The number of rows that fit on a page. */
  get pageRows(): number {
    return Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT));
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

  /** Scrolls to the active tile and focuses it. */
  goTo(id: string): void {
    const tile = this.#tile(id);
    tile?.scrollIntoView({ block: 'nearest' });
    this.#render();
    tile?.focus({ preventScroll: true });
  }

  playVideo(id: string): void {
    this.#tile(id)?.querySelector<HTMLButtonElement>('.play')?.click();
  }

  #tile(id: string): HTMLElement | undefined {
    return this.#tiles().find((tile) => tile.dataset['id'] === id);
  }

  #tiles(): readonly HTMLElement[] {
    return [...this.#grid.querySelectorAll<HTMLElement>('.tile')];
  }

  #relayout(): void {
    // As many columns as fit; tiles share the remaining width.
    this.#columns = Math.max(1, Math.floor((this.#grid.clientWidth + GAP) / (MIN_TILE_WIDTH + GAP)));
    const rows = Math.ceil(this.#items.length / this.#columns);
    this.#grid.style.height = `${Math.max(0, rows * ROW_HEIGHT - GAP)}px`;
    this.#grid.style.setProperty('--columns', String(this.#columns));
    this.#grid.setAttribute('aria-rowcount', String(rows));
    this.#grid.setAttribute('aria-colcount', String(this.#columns));
    this.#render();
  }

  #render(): void {
    const { scrollTop, clientHeight } = this.scroller;
    if (clientHeight === 0) return;
    const wanted = new Set<number>();
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - ROWS_BEYOND);
    const end = Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + ROWS_BEYOND;
    for (let at = first; at < end && at * this.#columns < this.#items.length; at += 1) wanted.add(at);
    const active = this.#items.findIndex(({ id }) => id === this.#selection.active);
    // Removing the focused tile would lose the keyboard focus.
    if (active >= 0) wanted.add(Math.floor(active / this.#columns));
    const focused = this.#hasFocus();
    for (const [at, row] of this.#rows) {
      if (wanted.has(at) && this.#isCurrent(at, row)) continue;
      row.element.remove();
      this.#rows.delete(at);
    }
    for (const at of wanted) if (!this.#rows.has(at)) this.#addRow(at);
    this.#paint(active < 0 ? this.#items[0]?.id : this.#selection.active, focused);
  }

  #hasFocus(): boolean {
    return this.#grid.contains(document.activeElement);
  }

  #isCurrent(at: number, { items }: Row): boolean {
    const now = this.#itemsOf(at);
    return items.length === now.length && items.every((item, index) => item === now[index]);
  }

  #itemsOf(row: number): readonly GalleryItem[] {
    return this.#items.slice(row * this.#columns, (row + 1) * this.#columns);
  }

  #addRow(at: number): void {
    const items = this.#itemsOf(at);
    const tiles = items.map((item) => makeTile(item, this.#deps));
    for (const [index, tile] of tiles.entries()) tile.setAttribute('aria-colindex', String(index + 1));
    const attributes = { role: 'row', 'aria-rowindex': String(at + 1) };
    const row = element('div', { class: 'row', attributes }, tiles);
    row.style.transform = `translateY(${at * ROW_HEIGHT}px)`;
    this.#rows.set(at, { element: row, items });
    // In document order, which is the reading order.
    const behind = [...this.#grid.children].find(({ ariaRowIndex }) => Number(ariaRowIndex) > at + 1);
    this.#grid.insertBefore(row, behind ?? null);
  }

  #paint(active: string | undefined, focused: boolean): void {
    for (const tile of this.#tiles()) {
      const id = tile.dataset['id'] ?? '';
      tile.setAttribute('aria-selected', String(this.#selection.chosen.has(id)));
      tile.tabIndex = id === active ? 0 : -1;
      if (id === active && focused && !this.#hasFocus()) tile.focus({ preventScroll: true });
    }
  }
}
