import { describeSize } from '../../../base/size.ts';
import {
  DATES,
  DEFAULT_QUERY,
  type GalleryItem,
  ITEM_KINDS,
  isFiltered,
  type Query,
  SIZES,
  SORTS,
  toolNames,
  UNLINKED,
} from '../items.ts';
import { ACTIONS, type Action, type ScopeView } from '../messages.ts';
import { fillIn, type WordName, type Words } from '../words.ts';
import { element, icon } from './dom.ts';

interface BarDeps {
  readonly words: Words;
  readonly scope: ScopeView;
  readonly query: Query;
  readonly onQuery: (query: Query) => void;
  readonly onScope: (scope: 'chat' | 'workspace') => void;
}

type Filter = 'kind' | 'tool' | 'date' | 'size' | 'sort';

export class FilterBar {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  readonly #deps: BarDeps;
  readonly #selects: Readonly<Record<Filter, HTMLSelectElement>>;
  readonly #clear: HTMLButtonElement;
  /** Hidden while there is nothing to filter. */
  readonly #filters: readonly HTMLElement[];
  #query: Query;
  #tools = '';

  constructor(deps: BarDeps) {
    this.#deps = deps;
    this.#query = deps.query;
    const { words } = deps;
    const about = { placeholder: words.search, 'aria-label': words.search, spellcheck: 'false' };
    this.search = element('input', { attributes: { type: 'search', ...about } });
    this.search.addEventListener('input', () => this.#change({ search: this.search.value }));
    this.#selects = {
      kind: this.#select('kind', [
        ['all', words.allKinds],
        ...ITEM_KINDS.map((kind) => [kind, words[kind]] as const),
      ]),
      tool: this.#select('tool', [['', words.allTools]]),
      date: this.#select('date', named(DATES, words)),
      size: this.#select('size', named(SIZES, words)),
      sort: this.#select('sort', named(SORTS, words)),
    };
    this.#clear = textButton(words.clearFilters, 'clear');
    this.#clear.setAttribute('aria-label', words.clearFilters);
    this.#clear.addEventListener('click', () => this.set({ ...DEFAULT_QUERY, sort: this.#query.sort }));
    const { kind, tool, date, size, sort } = this.#selects;
    const search = element('div', { class: 'search', attributes: { role: 'search' } }, [
      icon('search'),
      this.search,
    ]);
    const group = { role: 'group', 'aria-label': words.filters };
    const filters = element('div', { class: 'line filters', attributes: group }, [
      kind,
      tool,
      date,
      size,
      this.#clear,
    ]);
    this.#filters = [search, sort, filters];
    this.element = element('header', {}, [
      element('h1', { class: 'unseen', text: words.assets }),
      element('div', { class: 'line' }, [search, sort, this.#scopes()]),
      filters,
    ]);
    this.#showFilters(false);
    this.#paint();
  }

  /** Shows the filters that make sense for these items. */
  offerTools(items: Iterable<GalleryItem>): void {
    const all = [...items];
    this.#showFilters(all.length > 0);
    const names = toolNames(all);
    const unlinked = all.some(({ uses }) => uses.length === 0);
    const key = JSON.stringify([names, unlinked, this.#query.tool]);
    if (key === this.#tools) return;
    this.#tools = key;
    const { words } = this.#deps;
    const known = names.includes(this.#query.tool) || ['', UNLINKED].includes(this.#query.tool);
    const options = [
      ['', words.allTools] as const,
      ...(unlinked || this.#query.tool === UNLINKED ? [[UNLINKED, words.notLinked] as const] : []),
      ...(known ? names : [...names, this.#query.tool]).map((name) => [name, name] as const),
    ];
    this.#selects.tool.replaceChildren(...optionsOf(options));
    this.#selects.tool.value = this.#query.tool;
  }

  #showFilters(isShown: boolean): void {
    for (const each of this.#filters) each.hidden = !isShown;
  }

  set(query: Query): void {
    this.#query = query;
    this.#paint();
    this.#deps.onQuery(query);
  }

  #change(change: Partial<Query>): void {
    this.set({ ...this.#query, ...change });
  }

  #paint(): void {
    const { search, ...chosen } = this.#query;
    if (this.search.value !== search) this.search.value = search;
    for (const [name, select] of Object.entries(this.#selects) as [Filter, HTMLSelectElement][]) {
      select.value = chosen[name];
      select.classList.toggle('active', name !== 'sort' && chosen[name] !== DEFAULT_QUERY[name]);
    }
    this.#clear.hidden = !isFiltered(this.#query);
  }

  #select(name: Filter, options: readonly (readonly [string, string])[]): HTMLSelectElement {
    const attributes = { 'aria-label': this.#deps.words[name], name };
    const select = element('select', { attributes }, optionsOf(options));
    select.addEventListener('change', () => this.#change({ [name]: select.value }));
    return select;
  }

  /** Empty without a chat to switch to. */
  #scopes(): HTMLElement {
    const { words, scope, onScope } = this.#deps;
    const attributes = { role: 'group', 'aria-label': words.scope };
    const group = element('div', { class: 'scopes', attributes });
    if (scope.chatName === undefined) return group;
    for (const each of ['chat', 'workspace'] as const) {
      const pressed = (each === 'chat') === (scope.chat !== undefined);
      const text = each === 'chat' ? words.thisChat : words.workspace;
      const choice = element('button', {
        text,
        attributes: { type: 'button', 'aria-pressed': String(pressed) },
      });
      if (each === 'chat') choice.title = scope.chatName;
      choice.addEventListener('click', () => onScope(each));
      group.append(choice);
    }
    return group;
  }
}

function named(table: Readonly<Record<string, readonly [WordName, ...unknown[]]>>, words: Words) {
  return Object.entries(table).map(([value, [name]]) => [value, words[name]] as const);
}

function optionsOf(options: readonly (readonly [string, string])[]): HTMLOptionElement[] {
  return options.map(([value, text]) => element('option', { text, attributes: { value } }));
}

function textButton(text: string, name: Action | 'clear'): HTMLButtonElement {
  const made = element('button', { class: `action ${name}`, attributes: { type: 'button' } }, [icon(name)]);
  made.append(element('span', { text }));
  made.title = text;
  return made;
}

interface Counts {
  readonly all: readonly GalleryItem[];
  readonly shown: readonly GalleryItem[];
  readonly chosen: readonly GalleryItem[];
}

/** Counts, and actions for the selection. */
export class Footer {
  readonly element: HTMLElement;
  readonly #words: Words;
  readonly #status = element('div', { class: 'status', attributes: { role: 'status' } });
  readonly #buttons = new Map<Action, HTMLButtonElement>();

  constructor(
    words: Words,
    { canDelete, canAttach }: { readonly canDelete: boolean; readonly canAttach: boolean },
    onAction: (action: Action) => void,
  ) {
    this.#words = words;
    for (const action of ACTIONS) {
      if (action === 'attach' && !canAttach) continue;
      const made = textButton(action === 'export' ? words.exportAll : words[action], action);
      // Narrow pages hide the text of the button.
      if (action !== 'export') made.setAttribute('aria-label', words[action]);
      made.addEventListener('click', () => onAction(action));
      this.#buttons.set(action, made);
    }
    const remove = this.#buttons.get('delete');
    if (remove && !canDelete) {
      remove.disabled = true;
      remove.title = words.deleteUntrusted;
    }
    const attributes = { role: 'toolbar', 'aria-label': words.actions };
    const toolbar = element('div', { class: 'actions', attributes }, [...this.#buttons.values()]);
    this.element = element('footer', {}, [this.#status, toolbar]);
  }

  show(counts: Counts): void {
    const { shown, chosen } = counts;
    const words = this.#words;
    const status = describeCounts(counts, words);
    if (this.#status.textContent !== status) this.#status.textContent = status;
    for (const [action, button] of this.#buttons) {
      button.hidden = action === 'export' ? shown.length === 0 : chosen.length === 0;
    }
    const reveal = this.#buttons.get('reveal');
    if (reveal) reveal.disabled = chosen.length !== 1 || chosen[0]?.uses.length === 0;
    const button = this.#buttons.get('export');
    const text = chosen.length > 0 ? fillIn(words.exportChosen, chosen.length) : words.exportAll;
    if (button?.lastElementChild) button.lastElementChild.textContent = text;
    if (button) button.title = text;
  }
}

function describeCounts({ all, shown, chosen }: Counts, words: Words): string {
  const size = (items: readonly GalleryItem[]) =>
    describeSize(items.reduce((sum, { bytes }) => sum + bytes, 0));
  const number = new Intl.NumberFormat(document.documentElement.lang || undefined);
  const say = (value: number) => number.format(value);
  if (chosen.length > 0) return fillIn(words.chosen, say(chosen.length), size(chosen));
  if (shown.length < all.length) {
    return fillIn(words.countFiltered, say(shown.length), say(all.length), size(shown));
  }
  if (all.length === 1) return fillIn(words.countOne, size(all));
  return fillIn(words.count, say(all.length), size(all));
}
