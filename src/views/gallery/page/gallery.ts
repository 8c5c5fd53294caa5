import { isObject } from '../../../base/json.ts';
import { applyQuery, DEFAULT_QUERY, type GalleryItem, isFiltered, type Query, readQuery } from '../items.ts';
import type { Action, FromPage, ToPage } from '../messages.ts';
import { choose, chooseAll, extend, keepShown, moveBy, type Selection, toggle } from '../selection.ts';
import { AudioPlayer } from './audioPlayer.ts';
import { FilterBar, Footer } from './bar.ts';
import { element, icon } from './dom.ts';
import { Grid } from './grid.ts';
import { Peeks } from './tile.ts';

/** Shows nothing until the first message of the editor. */
export function startGallery(api: EditorApi): void {
  let view: GalleryView | undefined;
  const items = new Map<string, GalleryItem>();
  window.addEventListener('message', ({ data, origin }: MessageEvent<ToPage>) => {
    // Only the frame of the editor may send messages.
    if (origin !== window.origin) return;
    if (data.kind === 'start') {
      const kept = readKept(api.getState(), data.scope.chat);
      view = new GalleryView({ ...data, api, items, kept });
      document.body.replaceChildren(view.element);
      view.started();
    } else if (data.kind === 'assets') {
      if (data.reset) items.clear();
      for (const item of data.put) items.set(item.id, item);
      for (const id of data.gone) items.delete(id);
      view?.itemsChanged(data.whole);
    } else view?.goTo(data.id);
  });
  api.postMessage({ kind: 'ready' });
}

/** The state of another scope does not apply. */
function readKept(state: unknown, chat: string | undefined): PageState {
  const fields = isObject(state) ? state : {};
  if (fields['chat'] !== chat) return { query: readQuery(undefined), chosen: [], top: 0 };
  const { active, chosen, top } = fields;
  return {
    query: readQuery(fields['query']),
    chosen: Array.isArray(chosen) ? chosen.filter((id) => typeof id === 'string') : [],
    top: typeof top === 'number' ? top : 0,
    ...(typeof active === 'string' ? { active } : {}),
  };
}

/** The API that VS Code gives to a page. */
interface EditorApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

/** Restored when the page is shown again. */
interface PageState {
  readonly query: Query;
  readonly active?: string;
  readonly chosen: readonly string[];
  readonly top: number;
}

type GalleryViewDeps = Omit<Extract<ToPage, { kind: 'start' }>, 'kind'> & {
  readonly api: EditorApi;
  readonly items: ReadonlyMap<string, GalleryItem>;
  readonly kept: PageState;
};

const MAX_KEPT_CHOSEN = 1_000;

class GalleryView {
  readonly element: HTMLElement;
  readonly #deps: GalleryViewDeps;
  readonly #bar: FilterBar;
  readonly #grid: Grid;
  readonly #foot: Footer;
  readonly #audio: AudioPlayer;
  readonly #notice = element('div', { class: 'notice' });
  #query: Query;
  #selection: Selection;
  #shown: readonly GalleryItem[] = [];
  #activeIndex = 0;
  #at: string | undefined;
  #whole = false;
  /** The scroll position to restore once all items are there. */
  #top: number;

  constructor(deps: GalleryViewDeps) {
    this.#deps = deps;
    const { words, scope, kept, canDelete, at, api } = deps;
    this.#query = at === undefined ? kept.query : { ...DEFAULT_QUERY, sort: kept.query.sort };
    this.#selection = { active: kept.active, anchor: undefined, chosen: new Set(kept.chosen) };
    this.#at = at;
    this.#top = kept.top;
    this.#audio = new AudioPlayer(words);
    this.#bar = new FilterBar({
      words,
      scope,
      query: this.#query,
      onQuery: (query) => this.#applyQuery(query),
      onScope: (wanted) => api.postMessage({ kind: 'scope', scope: wanted }),
    });
    const tiles = { words, audio: this.#audio, peeks: new Peeks(words) };
    this.#grid = new Grid(tiles, this.#selection, () => this.#keep());
    const allowed = { canDelete, canAttach: scope.chatName !== undefined };
    this.#foot = new Footer(words, allowed, (action) => this.#act(action));
    const main = element('main', { attributes: { 'aria-label': words.assets } }, [
      this.#notice,
      this.#grid.scroller,
    ]);
    this.element = element('div', { class: 'gallery' }, [this.#bar.element, main, this.#foot.element]);
    this.#listen();
  }

  /** Called once the element is in the page and has a size. */
  started(): void {
    this.#update();
    new MutationObserver(() => this.#audio.repaint()).observe(document.body, { attributeFilter: ['class'] });
  }

  itemsChanged(whole: boolean): void {
    this.#whole = whole;
    this.#bar.offerTools(this.#deps.items.values());
    this.#update();
    if (!whole) return;
    if (this.#top > 0) this.#grid.scroller.scrollTop = this.#top;
    this.#top = 0;
    const at = this.#at;
    this.#at = undefined;
    if (at !== undefined) this.goTo(at);
  }

  /** Selects an asset and scrolls to it. Clears the filters if they hide it. */
  goTo(id: string): void {
    if (!this.#deps.items.has(id)) {
      // It may be in a later batch.
      this.#at = this.#whole ? undefined : id;
      return;
    }
    if (!this.#shown.some((item) => item.id === id))
      this.#bar.set({ ...DEFAULT_QUERY, sort: this.#query.sort });
    this.#select(choose(id));
    this.#grid.goTo(id);
  }

  #applyQuery(query: Query): void {
    this.#query = query;
    this.#grid.scroller.scrollTop = 0;
    this.#update();
  }

  #update(): void {
    this.#shown = applyQuery(this.#deps.items.values(), this.#query, Date.now());
    if (this.#whole) this.#selection = keepShown(this.#selection, this.#ids(), this.#activeIndex);
    // First, because a hidden grid has no width.
    this.#showNotice();
    this.#grid.show(this.#shown, this.#selection);
    this.#selectionChanged();
  }

  #select(selection: Selection): void {
    this.#selection = selection;
    this.#grid.select(selection);
    this.#selectionChanged();
  }

  #selectionChanged(): void {
    const { items } = this.#deps;
    const { active, chosen } = this.#selection;
    this.#activeIndex = Math.max(0, this.#ids().indexOf(active ?? ''));
    this.#foot.show({
      all: [...items.values()],
      shown: this.#shown,
      chosen: this.#shown.filter(({ id }) => chosen.has(id)),
    });
    this.#keep();
  }

  #showNotice(): void {
    const { words } = this.#deps;
    const empty = this.#shown.length === 0;
    this.#notice.hidden = !empty;
    this.#grid.scroller.hidden = empty;
    if (!empty) return;
    const filtered = isFiltered(this.#query) && this.#deps.items.size > 0;
    const loaded = filtered ? [words.noMatchTitle, words.noMatchHint] : [words.emptyTitle, words.emptyHint];
    const [title = '', hint = ''] = this.#whole ? loaded : [words.loading];
    const texts = [element('h2', { text: title }), element('p', { text: hint })];
    this.#notice.replaceChildren(icon(filtered ? 'search' : 'image'), ...texts);
  }

  #keep(): void {
    const { scope, api } = this.#deps;
    const { active, chosen } = this.#selection;
    api.setState({
      chat: scope.chat,
      query: this.#query,
      active,
      chosen: [...chosen].slice(0, MAX_KEPT_CHOSEN),
      top: this.#top || this.#grid.scroller.scrollTop,
    });
  }

  #ids(): readonly string[] {
    return this.#shown.map(({ id }) => id);
  }

  /** Acts on the selection. An export without a selection includes everything that is shown. */
  #act(action: Action): void {
    const chosen = this.#ids().filter((id) => this.#selection.chosen.has(id));
    const ids = chosen.length === 0 && action === 'export' ? this.#ids() : chosen;
    if (ids.length > 0) this.#deps.api.postMessage({ kind: 'act', action, ids });
  }

  #listen(): void {
    const { scroller } = this.#grid;
    scroller.addEventListener('click', (event) => this.#click(event));
    scroller.addEventListener('dblclick', (event) => {
      if (tileOf(event.target) !== undefined && !isControl(event.target)) this.#act('open');
    });
    scroller.addEventListener('keydown', (event) => {
      if (this.#keyInGrid(event)) event.preventDefault();
    });
    document.addEventListener('keydown', (event) => {
      if (this.#keyAnywhere(event)) event.preventDefault();
    });
    this.#bar.search.addEventListener('keydown', ({ key }) => {
      if (key === 'ArrowDown' || key === 'Enter') this.#focusGrid();
    });
  }

  #click(event: MouseEvent): void {
    const id = tileOf(event.target);
    if (id === undefined || isControl(event.target)) return;
    const checked = event.target instanceof Element && event.target.closest('.check') !== null;
    if (event.shiftKey) this.#select(extend(this.#selection, id, this.#ids()));
    else if (checked || event.ctrlKey || event.metaKey) this.#select(toggle(this.#selection, id));
    else this.#select(choose(id));
    this.#grid.goTo(id);
  }

  #focusGrid(): void {
    const id = this.#selection.active ?? this.#shown[0]?.id;
    if (id === undefined) return;
    if (this.#selection.chosen.size === 0) this.#select(choose(id));
    this.#grid.goTo(id);
  }

  /** Returns whether the key was handled. */
  #keyInGrid({ key, shiftKey, ctrlKey, metaKey, target }: KeyboardEvent): boolean {
    if (isControl(target)) return false;
    const strong = ctrlKey || metaKey;
    const grid = { columns: this.#grid.columns, count: this.#shown.length, pageRows: this.#grid.pageRows };
    const to = this.#shown[moveBy(key, this.#activeIndex, grid) ?? -1]?.id;
    if (to !== undefined) {
      if (shiftKey) this.#select(extend(this.#selection, to, this.#ids()));
      else if (strong) this.#select({ ...this.#selection, active: to });
      else this.#select(choose(to));
      this.#grid.goTo(to);
      return true;
    }
    return this.#keyOnTile(key, strong);
  }

  #keyOnTile(key: string, strong: boolean): boolean {
    const active = this.#shown[this.#activeIndex];
    if (!active) return false;
    if (key === 'Enter' || key === 'Delete') {
      if (this.#selection.chosen.size === 0) this.#select(choose(active.id));
      if (key === 'Enter') this.#act('open');
      else if (this.#deps.canDelete) this.#act('delete');
    } else if (key === ' ') {
      if (!strong && active.kind === 'audio') this.#audio.toggle(active);
      else if (!strong && active.kind === 'video' && active.source !== undefined)
        this.#grid.playVideo(active.id);
      else this.#select(toggle(this.#selection, active.id));
    } else if (strong && key.toLowerCase() === 'a') this.#select(chooseAll(this.#selection, this.#ids()));
    else if (key === 'Escape') this.#select({ ...this.#selection, chosen: new Set() });
    else return false;
    return true;
  }

  #keyAnywhere({ key, ctrlKey, metaKey, target }: KeyboardEvent): boolean {
    const typing = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    const wanted = (key === '/' && !typing) || ((ctrlKey || metaKey) && key.toLowerCase() === 'f');
    if (!wanted) return false;
    this.#bar.search.focus();
    this.#bar.search.select();
    return true;
  }
}

function tileOf(target: EventTarget | null): string | undefined {
  const tile = target instanceof Element ? target.closest<HTMLElement>('.tile') : null;
  return tile?.dataset['id'];
}

/** Buttons in tiles handle their own events. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button') !== null;
}
