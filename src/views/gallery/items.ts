import { isObject } from '../../base/json.ts';

/** Sent to the page as it is. */
export interface GalleryItem {
  /** Its address. The page may only send back ids that it was given. */
  readonly id: string;
  readonly name: string;
  /** The folder of the chat for display; empty when there is only one. */
  readonly folder: string;
  readonly kind: ItemKind;
  readonly bytes: number;
  /** The time of the last change, in milliseconds. */
  readonly time: number;
  /** The links to it, in order. */
  readonly uses: readonly ItemUse[];
  /** The URL to load it from; undefined for files that are not previewed. */
  readonly source?: string;
}

export interface ItemUse {
  readonly chat: string;
  /** The tool that returned it; undefined for attachments. */
  readonly tool?: string;
  /** The number of the turn, from 1. */
  readonly turn: number;
}

export const ITEM_KINDS = ['image', 'audio', 'video', 'pdf', 'text', 'other'] as const;
type ItemKind = (typeof ITEM_KINDS)[number];

const KINDS: readonly (readonly [ItemKind, readonly string[]])[] = [
  ['image', ['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'ico', 'apng', 'svg']],
  ['audio', ['mp3', 'wav', 'ogg', 'oga', 'opus', 'flac', 'm4a', 'aac', 'weba', 'aif', 'aiff', 'amr', 'mid']],
  ['video', ['mp4', 'webm', 'mov', 'mkv', 'avi', 'ogv', 'mpg', '3gp', 'm4v']],
  ['pdf', ['pdf']],
  ['text', 'txt md csv tsv json jsonl xml yaml yml html htm css js ts py sql ics log'.split(' ')],
];

export function kindOf(name: string): ItemKind {
  const extension = extensionOf(name);
  return KINDS.find(([, extensions]) => extensions.includes(extension))?.[0] ?? 'other';
}

/** In lower case without the dot; empty when there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

/** Larger files are not previewed: decoding takes many times the size of a file in memory. */
const SHOWN_BYTES: Readonly<Record<ItemKind, number>> = {
  image: 12_000_000,
  audio: 50_000_000,
  video: 30_000_000,
  pdf: 8_000_000,
  text: 200_000,
  other: 0,
};

/** Active content. Tiles show an icon. */
const DOCUMENTS: ReadonlySet<string> = new Set(['svg', 'html', 'htm', 'xml']);

/** Whether the page may load it for a preview. */
export function isShown(name: string, bytes: number): boolean {
  return bytes > 0 && bytes <= SHOWN_BYTES[kindOf(name)] && !DOCUMENTS.has(extensionOf(name));
}

export function toolsOf({ uses }: Pick<GalleryItem, 'uses'>): readonly string[] {
  return [...new Set(uses.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))];
}

/** Filters and sort order. */
export interface Query {
  readonly search: string;
  readonly kind: ItemKind | 'all';
  /** The name of a tool, `UNLINKED`, or empty for all. */
  readonly tool: string;
  readonly date: DateRange;
  readonly size: SizeRange;
  readonly sort: SortOrder;
}

export const DATE_RANGES = ['any', 'day', 'week', 'month', 'older'] as const;
export type DateRange = (typeof DATE_RANGES)[number];
export const SIZE_RANGES = ['any', 'small', 'medium', 'large', 'huge'] as const;
export type SizeRange = (typeof SIZE_RANGES)[number];
export const SORT_ORDERS = ['newest', 'oldest', 'largest', 'name'] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** Not the name of any tool: those begin with the id of a server. */
export const UNLINKED = '-';

export const EVERYTHING: Query = {
  search: '',
  kind: 'all',
  tool: '',
  date: 'any',
  size: 'any',
  sort: 'newest',
};

export function isFiltered({ search, kind, tool, date, size }: Query): boolean {
  return search.trim() !== '' || kind !== 'all' || tool !== '' || date !== 'any' || size !== 'any';
}

export function applyQuery(items: Iterable<GalleryItem>, query: Query, now: number): GalleryItem[] {
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (item: GalleryItem) =>
    (query.kind === 'all' || item.kind === query.kind) &&
    fitsTool(item, query.tool) &&
    fitsDate(now - item.time, query.date) &&
    fitsSize(item.bytes, query.size) &&
    fitsWords(item, words);
  return [...items].filter(matches).sort(ORDERS[query.sort]);
}

function fitsTool(item: GalleryItem, tool: string): boolean {
  if (tool === '') return true;
  return tool === UNLINKED ? item.uses.length === 0 : toolsOf(item).includes(tool);
}

const DAY_MS = 24 * 60 * 60 * 1000;
const AGES: Readonly<Record<DateRange, readonly [number, number]>> = {
  any: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  day: [Number.NEGATIVE_INFINITY, DAY_MS],
  week: [Number.NEGATIVE_INFINITY, 7 * DAY_MS],
  month: [Number.NEGATIVE_INFINITY, 30 * DAY_MS],
  older: [30 * DAY_MS, Number.POSITIVE_INFINITY],
};

function fitsDate(age: number, range: DateRange): boolean {
  const [from, to] = AGES[range];
  return from <= age && age < to;
}

const SIZES: Readonly<Record<SizeRange, readonly [number, number]>> = {
  any: [0, Number.POSITIVE_INFINITY],
  small: [0, 100_000],
  medium: [100_000, 1_000_000],
  large: [1_000_000, 10_000_000],
  huge: [10_000_000, Number.POSITIVE_INFINITY],
};

function fitsSize(bytes: number, range: SizeRange): boolean {
  const [from, to] = SIZES[range];
  return from <= bytes && bytes < to;
}

/** Every word must occur in the text of the tile. */
function fitsWords(item: GalleryItem, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const chats = item.uses.map(({ chat }) => chat);
  const text = [item.name, item.kind, item.folder, ...toolsOf(item), ...chats].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

type Compare = (a: GalleryItem, b: GalleryItem) => number;

/** Sorts numbers in names by value: `-2` comes before `-10`. */
const byName: Compare = (a, b) => COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

const ORDERS: Readonly<Record<SortOrder, Compare>> = {
  newest: (a, b) => b.time - a.time || byName(a, b),
  oldest: (a, b) => a.time - b.time || byName(a, b),
  largest: (a, b) => b.bytes - a.bytes || byName(a, b),
  name: byName,
};

export function toolNames(items: Iterable<GalleryItem>): readonly string[] {
  const names = new Set<string>();
  for (const item of items) for (const tool of toolsOf(item)) names.add(tool);
  return [...names].sort(COLLATOR.compare);
}

/** The stored state may come from another version. */
export function readQuery(value: unknown): Query {
  const fields = isObject(value) ? value : {};
  const oneOf = <T extends string>(known: readonly T[], name: string, fallback: T): T =>
    known.find((each) => each === fields[name]) ?? fallback;
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    search: text('search'),
    kind: oneOf(['all', ...ITEM_KINDS], 'kind', EVERYTHING.kind),
    tool: text('tool'),
    date: oneOf(DATE_RANGES, 'date', EVERYTHING.date),
    size: oneOf(SIZE_RANGES, 'size', EVERYTHING.size),
    sort: oneOf(SORT_ORDERS, 'sort', EVERYTHING.sort),
  };
}
