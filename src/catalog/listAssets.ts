import { createHash } from 'node:crypto';
import { visibleLine } from '../base/lines.ts';
import { foldCase, searchWords } from '../chat/outline/searchChat.ts';
import { isAllowedType } from '../media/table.ts';
import type { Catalog } from './catalog.ts';
import { type AssetEntry, CatalogRefusal, type ChatId, type Entry, entryTitle } from './entry.ts';
import { type AssetQuery, DEFAULT_PAGE } from './toolSpecs.ts';

export interface AssetPage {
  readonly assets: readonly AssetEntry[];
  /** The number of matches on all pages. */
  readonly total: number;
  readonly nextCursor?: string;
  /** Folders that could not be read, and entries beyond the limits. */
  readonly notes: readonly string[];
}

/** Rejects with a `CatalogRefusal` for an invalid query. */
export async function listAssets(
  catalog: Catalog,
  query: AssetQuery,
  signal?: AbortSignal,
): Promise<AssetPage> {
  const { entries, notes } = await catalog.snapshot(signal);
  if (query.chat !== undefined) checkChat(entries, query.chat);
  const assets = entries.filter((entry): entry is AssetEntry => entry.kind === 'asset');
  return { ...pageOf(assets, query), notes };
}

/** An empty list would look as if the chat had no assets. */
export function checkChat(entries: readonly Entry[], chat: ChatId): void {
  if (entries.some((entry) => entry.chat === chat)) return;
  throw new CatalogRefusal(
    `There is no chat ${visibleLine(chat)}. Lists name chats by their paths, such as notes/sales.chat.md.`,
  );
}

export function pageOf(entries: readonly AssetEntry[], query: AssetQuery): Omit<AssetPage, 'notes'> {
  const { limit = DEFAULT_PAGE, cursor } = query;
  const matches = entries.filter(filterOf(query));
  const { page, last } = pageAfter(matches, {
    positionOf: (entry) => positionOf(entry, query),
    compare: orderOf(query),
    after: cursor === undefined ? undefined : readCursor(cursor, query),
    limit,
  });
  const nextCursor = last && { nextCursor: writeCursor([fingerprintOf(query), last.key, last.uri]) };
  return { assets: page, total: matches.length, ...nextCursor };
}

/** Continues after a position, not at an index, so that added and removed entries do not shift the next page. */
export function pageAfter<T, P>(
  entries: readonly T[],
  options: {
    readonly positionOf: (entry: T) => P;
    readonly compare: (a: P, b: P) => number;
    readonly after: P | undefined;
    readonly limit: number;
  },
): { readonly page: readonly T[] /** Undefined on the last page. */; readonly last?: P } {
  const { positionOf, compare, after, limit } = options;
  const rest = entries
    .map((entry) => ({ entry, position: positionOf(entry) }))
    .filter(({ position }) => after === undefined || compare(position, after) > 0)
    .sort((a, b) => compare(a.position, b.position));
  const shown = rest.slice(0, limit);
  const last = rest.length > shown.length ? shown.at(-1) : undefined;
  return { page: shown.map(({ entry }) => entry), ...(last && { last: last.position }) };
}

export function writeCursor(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Returns undefined for text that `writeCursor` did not write. */
export function parseCursor(cursor: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function filterOf({ chat, filter = '', kind, mimeType }: AssetQuery): (entry: AssetEntry) => boolean {
  const words = searchWords(filter);
  return (entry) =>
    (chat === undefined || entry.chat === chat) &&
    (kind === undefined || entry.assetKind === kind) &&
    (mimeType === undefined || isAllowedType(entry.mimeType, [mimeType])) &&
    hasWords(entry, words);
}

function hasWords(entry: AssetEntry, words: readonly string[]): boolean {
  const { asset, mimeType, tool = '', savedBy = '', chat } = entry;
  const text = foldCase([entryTitle(entry), asset, mimeType, tool, savedBy, chat].join('\n'));
  return words.every((word) => text.includes(word));
}

/** The position of an entry in a sort order. No two entries have the same address. */
interface Position {
  readonly key: string | number;
  readonly uri: string;
}

type Sort = NonNullable<AssetQuery['sort']>;

const KEYS: Readonly<Record<Sort, (entry: AssetEntry) => string | number>> = {
  changed: ({ changed }) => changed.getTime(),
  name: entryTitle,
  size: ({ size }) => size,
};

/** A fixed language, so that a cursor means the same everywhere. */
const NAMES = new Intl.Collator('en', { numeric: true });

function positionOf(entry: AssetEntry, { sort = 'changed' }: AssetQuery): Position {
  return { key: KEYS[sort](entry), uri: entry.uri };
}

function orderOf(query: AssetQuery): (a: Position, b: Position) => number {
  const direction = isAscending(query) ? 1 : -1;
  return (a, b) => direction * (compareKeys(a.key, b.key) || compareTexts(a.uri, b.uri));
}

/** Names ascend by default; times and sizes descend. */
function isAscending({ sort = 'changed', order }: AssetQuery): boolean {
  return (order ?? (sort === 'name' ? 'ascending' : 'descending')) === 'ascending';
}

function compareKeys(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : NAMES.compare(String(a), String(b));
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function readCursor(cursor: string, query: AssetQuery): Position {
  const [fingerprint, key, uri] = parseCursor(cursor) ?? [];
  if (typeof fingerprint !== 'string' || typeof uri !== 'string')
    throw new CatalogRefusal(
      'cursor is not a nextCursor of list_assets. Omit it to start at the first page.',
    );
  if (fingerprint !== fingerprintOf(query) || typeof key !== (query.sort === 'name' ? 'string' : 'number'))
    throw new CatalogRefusal(
      'cursor belongs to another list. Pass it with the same chat, filter, kind, mimeType, sort and order, or omit it to start at the first page.',
    );
  return { key: key as Position['key'], uri };
}

const FINGERPRINT_CHARS = 12;

/** Identifies the list that a cursor belongs to. The page size does not matter. */
function fingerprintOf(query: AssetQuery): string {
  const { chat = '', filter = '', kind = '', mimeType = '', sort = 'changed' } = query;
  const list = [chat, searchWords(filter), kind, foldCase(mimeType.trim()), sort, isAscending(query)];
  return createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, FINGERPRINT_CHARS);
}
