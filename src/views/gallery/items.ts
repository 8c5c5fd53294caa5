import { isObject } from '../../base/json.ts';
import type { WordName } from './words.ts';

/** Sent to the page as it is. */
export interface GalleryItem {
  /** Its address. The page may only send back ids that it was given. */
  readonly id: string;
  /** What users know it by: the name in its chat, or its kind and number. */
  readonly title: string;
  /** The name of its file. */
  readonly name: string;
  /** The folder of the chat for display; empty when there is only one. */
  readonly folder: string;
  readonly kind: ItemKind;
  readonly bytes: number;
  /** The time of the last change, in milliseconds. */
  readonly time: number;
  /** The links to it, in order. The tool is the one that returned it; turns count from 1. */
  readonly uses: readonly { readonly chat: string; readonly tool?: string; readonly turn: number }[];
  /** The URL to load it from; undefined for files that are not previewed. */
  readonly source?: string;
}

export const ITEM_KINDS = ['image', 'audio', 'video', 'pdf', 'text', 'other'] as const;
type ItemKind = (typeof ITEM_KINDS)[number];

const KINDS: readonly (readonly [ItemKind, string])[] = [
  ['image', 'png jpg jpeg gif webp avif bmp ico apng svg'],
  ['audio', 'mp3 wav ogg oga opus flac m4a aac weba aif aiff amr mid'],
  ['video', 'mp4 webm mov mkv avi ogv mpg 3gp m4v'],
  ['pdf', 'pdf'],
  ['text', 'txt md csv tsv json jsonl xml yaml yml html htm css js ts py sql ics log'],
];

export function kindOf(name: string): ItemKind {
  const extension = extensionOf(name);
  return KINDS.find(([, extensions]) => extensions.split(' ').includes(extension))?.[0] ?? 'other';
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
  readonly date: keyof typeof DATES;
  readonly size: keyof typeof SIZES;
  readonly sort: keyof typeof SORTS;
}

/** Not the name of any tool: those begin with the id of a server. */
export const UNLINKED = '-';

export const DEFAULT_QUERY: Query = {
  search: '',
  kind: 'all',
  tool: '',
  date: 'any',
  size: 'any',
  sort: 'newest',
};

type Range = readonly [name: WordName, from: number, to: number];

/** The ages of assets in days. */
export const DATES = {
  any: ['anyTime', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  day: ['lastDay', Number.NEGATIVE_INFINITY, 1],
  week: ['lastWeek', Number.NEGATIVE_INFINITY, 7],
  month: ['lastMonth', Number.NEGATIVE_INFINITY, 30],
  older: ['older', 30, Number.POSITIVE_INFINITY],
} as const satisfies Readonly<Record<string, Range>>;

/** In bytes. */
export const SIZES = {
  any: ['anySize', 0, Number.POSITIVE_INFINITY],
  small: ['small', 0, 100_000],
  medium: ['medium', 100_000, 1_000_000],
  large: ['large', 1_000_000, 10_000_000],
  huge: ['huge', 10_000_000, Number.POSITIVE_INFINITY],
} as const satisfies Readonly<Record<string, Range>>;

type Compare = (a: GalleryItem, b: GalleryItem) => number;

const COLLATOR = new Intl.Collator(undefined, { numeric: true });
/** Sorts numbers in names by value: `-2` comes before `-10`. */
const byName: Compare = (a, b) =>
  COLLATOR.compare(a.title, b.title) || COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1);

export const SORTS = {
  newest: ['newest', (a, b) => b.time - a.time || byName(a, b)],
  oldest: ['oldest', (a, b) => a.time - b.time || byName(a, b)],
  largest: ['largest', (a, b) => b.bytes - a.bytes || byName(a, b)],
  name: ['byName', byName],
} as const satisfies Readonly<Record<string, readonly [name: WordName, compare: Compare]>>;

export function isFiltered({ search, kind, tool, date, size }: Query): boolean {
  return search.trim() !== '' || kind !== 'all' || tool !== '' || date !== 'any' || size !== 'any';
}

const DAY_MS = 24 * 60 * 60 * 1000;

export function applyQuery(items: Iterable<GalleryItem>, query: Query, now: number): GalleryItem[] {
  const words = query.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (item: GalleryItem) =>
    (query.kind === 'all' || item.kind === query.kind) &&
    matchesTool(item, query.tool) &&
    isIn(DATES[query.date], (now - item.time) / DAY_MS) &&
    isIn(SIZES[query.size], item.bytes) &&
    matchesWords(item, words);
  return [...items].filter(matches).sort(SORTS[query.sort][1]);
}

function isIn([, from, to]: Range, value: number): boolean {
  return from <= value && value < to;
}

function matchesTool(item: GalleryItem, tool: string): boolean {
  if (tool === '') return true;
  return tool === UNLINKED ? item.uses.length === 0 : toolsOf(item).includes(tool);
}

/** Every word must occur in the text of the tile. */
function matchesWords(item: GalleryItem, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const chats = item.uses.map(({ chat }) => chat);
  const text = [item.title, item.name, item.kind, item.folder, ...toolsOf(item), ...chats]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

export function toolNames(items: Iterable<GalleryItem>): readonly string[] {
  return [...new Set([...items].flatMap(toolsOf))].sort(COLLATOR.compare);
}

/** The stored state may come from another version. */
export function readQuery(value: unknown): Query {
  const fields = isObject(value) ? value : {};
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  const oneOf = <T extends string>(table: Readonly<Record<T, unknown>>, name: string, fallback: T) =>
    Object.hasOwn(table, text(name)) ? (text(name) as T) : fallback;
  return {
    search: text('search'),
    kind: ITEM_KINDS.find((kind) => kind === fields['kind']) ?? 'all',
    tool: text('tool'),
    date: oneOf(DATES, 'date', 'any'),
    size: oneOf(SIZES, 'size', 'any'),
    sort: oneOf(SORTS, 'sort', 'newest'),
  };
}
