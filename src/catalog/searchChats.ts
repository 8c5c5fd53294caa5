import { setImmediate } from 'node:timers/promises';
import { LineCounter } from '../base/lines.ts';
import { type SearchHit, searchChat, searchWords } from '../chat/outline/searchChat.ts';
import type { Catalog } from './catalog.ts';
import { CatalogRefusal, type ChatEntry, type ChatId } from './entry.ts';
import { checkChat } from './listAssets.ts';
import { readChatBytes } from './mentions.ts';
import { type ChatQuery, DEFAULT_HITS, type SearchOutput } from './toolSpecs.ts';

type ChatHit = SearchOutput['hits'][number];

/** One long chat must not hide all the others. */
const MAX_HITS_OF_CHAT = 10;
const CHATS_AT_ONCE = 8;

/** Searches the latest chat first. Rejects with a `CatalogRefusal` for an invalid query. */
export async function searchChats(
  catalog: Catalog,
  /** `except` is the chat that the request comes from. */
  query: ChatQuery & { readonly except?: ChatId | undefined },
  signal?: AbortSignal,
): Promise<SearchOutput> {
  const { limit = DEFAULT_HITS, chat, except } = query;
  const words = searchWords(query.query);
  if (words.length === 0) throw new CatalogRefusal('query must contain at least one word.');
  const { entries } = await catalog.snapshot(signal);
  if (chat !== undefined) checkChat(entries, chat);
  const chats = entries
    .filter((entry) => entry.kind === 'chat')
    .filter((entry) => (chat === undefined || entry.chat === chat) && entry.chat !== except);
  const maxPerChat = chat === undefined ? Math.min(limit, MAX_HITS_OF_CHAT) : limit;
  const hits: ChatHit[] = [];
  let more = false;
  for (let at = 0; at < chats.length && hits.length <= limit; at += CHATS_AT_ONCE) {
    // One more than needed, to detect whether there are more.
    const search = (entry: ChatEntry) => searchOne(catalog, entry, words, maxPerChat + 1);
    const found = await Promise.all(chats.slice(at, at + CHATS_AT_ONCE).map(search));
    await setImmediate();
    signal?.throwIfAborted();
    more ||= found.some(({ length }) => length > maxPerChat);
    hits.push(...found.flatMap((each) => each.slice(0, maxPerChat)));
  }
  return { hits: hits.slice(0, limit), more: more || hits.length > limit };
}

/** An unreadable chat has no hits. */
async function searchOne(
  catalog: Catalog,
  { uri, chat, title }: ChatEntry,
  words: readonly string[],
  maxHits: number,
): Promise<readonly ChatHit[]> {
  const bytes = await catalog
    .find({ kind: 'chat', chat })
    .then(({ path }) => readChatBytes(path))
    .catch(() => undefined);
  if (!bytes) return [];
  const text = new TextDecoder().decode(bytes);
  const hits = searchChat(text, title, words, maxHits);
  const places = placesIn(text, bytes, hits);
  return hits.map(({ offset, ...hit }) => ({ uri, chat, title, ...hit, ...places(offset) }));
}

/** Counts lines in the bytes: their number is the same as in the text, even if the chat is not valid UTF-8. */
function placesIn(text: string, bytes: Uint8Array, hits: readonly SearchHit[]) {
  const lines = new LineCounter(text);
  const places = new Map<number, Pick<ChatHit, 'line' | 'start'>>();
  let line = 0;
  let lineStart = 0;
  for (const { offset } of hits.toSorted((a, b) => a.offset - b.offset)) {
    for (const wanted = lines.lineAt(offset); line < wanted; line += 1)
      lineStart = bytes.indexOf(NEWLINE, lineStart) + 1;
    const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
    // The offset within a line with invalid UTF-8 is unknown, so the start of the line is used.
    const within = before.includes('\ufffd') ? 0 : Buffer.byteLength(before);
    places.set(offset, { line: line + 1, start: lineStart + within });
  }
  return (offset: number) => places.get(offset) ?? { line: 1, start: 0 };
}

const NEWLINE = 0x0a;
