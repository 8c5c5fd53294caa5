import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Entry } from '../catalog/entry.ts';

/** Every client must be able to hold a page, and none should need many. */
const PAGE_SIZE = 500;

export interface Page {
  readonly page: readonly Entry[];
  readonly nextCursor?: string;
}

/** Chats first, then assets; the latest first. What comes or goes between two pages moves nothing else. */
export function pageOf(entries: readonly Entry[], cursor?: string): Page {
  const last = cursor === undefined ? undefined : readCursor(cursor);
  const sorted = entries.map((entry) => ({ entry, place: placeOf(entry) })).sort(byPlace);
  const rest = last ? sorted.filter(({ place }) => compare(place, last) > 0) : sorted;
  const page = rest.slice(0, PAGE_SIZE);
  const end = page.at(-1);
  return {
    page: page.map(({ entry }) => entry),
    ...(end && rest.length > page.length ? { nextCursor: writeCursor(end.place) } : {}),
  };
}

/** Where an entry stands; no two have the same address. */
type Place = readonly [kind: number, age: number, uri: string];

function placeOf({ kind, changed, uri }: Entry): Place {
  return [kind === 'chat' ? 0 : 1, -changed.getTime(), uri];
}

function byPlace(a: { readonly place: Place }, b: { readonly place: Place }): number {
  return compare(a.place, b.place);
}

function compare(a: Place, b: Place): number {
  return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : Number(a[2] > b[2]));
}

function writeCursor(place: Place): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function readCursor(cursor: string): Place {
  try {
    const [kind, age, uri] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof kind === 'number' && typeof age === 'number' && typeof uri === 'string')
      return [kind, age, uri];
  } catch {
    // Said below.
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This cursor is not one of this server. Begin the list anew.',
  );
}
