import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import { type SearchHit, searchChat, searchWords } from '../../chat/outline/searchChat.ts';
import { showAt } from '../chat/chatFiles.ts';
import { ageText } from './ages.ts';
import type { ChatList, ChatTexts, FoundChat } from './chatList.ts';

interface HitRow extends vscode.QuickPickItem {
  readonly chat: FoundChat;
  readonly offset: number;
}

const MAX_HITS = 200;
const MAX_HITS_OF_CHAT = 10;
const TYPING_MS = 120;
/** The number of chats to search before the list is updated. */
const CHATS_AT_ONCE = 24;

/** Searches all chats while the user types, and opens the chosen turn. */
export async function searchChats(list: ChatList, texts: ChatTexts, query: string): Promise<void> {
  const pick = vscode.window.createQuickPick<HitRow>();
  let searching = new AbortController();
  let soon: NodeJS.Timeout | undefined;
  const search = () => {
    searching.abort();
    searching = new AbortController();
    void fill(pick, { list, texts, signal: searching.signal });
  };
  pick.title = vscode.l10n.t('Search Chats');
  pick.placeholder = vscode.l10n.t('Search in titles and turns');
  pick.value = query;
  pick.onDidChangeValue(() => {
    clearTimeout(soon);
    searching.abort();
    pick.busy = true;
    soon = setTimeout(search, TYPING_MS);
  });
  const chosen = new Promise<HitRow | undefined>((resolve) => {
    pick.onDidAccept(() => resolve(pick.selectedItems[0]));
    pick.onDidHide(() => resolve(undefined));
  });
  pick.show();
  search();
  const row = await chosen;
  clearTimeout(soon);
  searching.abort();
  pick.dispose();
  if (row) await openAt(row);
}

interface Searching {
  readonly list: ChatList;
  readonly texts: ChatTexts;
  readonly signal: AbortSignal;
}

/** Lists all chats if there are no words. */
async function fill(pick: vscode.QuickPick<HitRow>, { list, texts, signal }: Searching): Promise<void> {
  pick.busy = true;
  const words = searchWords(pick.value);
  const chats = await list.all();
  const rows: HitRow[] = [];
  for (let at = 0; at < chats.length && rows.length < MAX_HITS; at += CHATS_AT_ONCE) {
    const some = chats.slice(at, at + CHATS_AT_ONCE);
    const found = await Promise.all(some.map((chat) => rowsOf(chat, texts, words)));
    // Cached texts cause no wait; without this, typing would block until all are searched.
    await setImmediate();
    if (signal.aborted) return;
    rows.push(...found.flat());
    if (found.some(({ length }) => length > 0)) showRows(pick, rows);
  }
  if (rows.length === 0) pick.items = [];
  pick.placeholder =
    chats.length === 0
      ? vscode.l10n.t('There are no chats in this workspace.')
      : vscode.l10n.t('Search in titles and turns');
  pick.busy = false;
}

/** An unreadable chat has no hits. */
async function rowsOf(
  chat: FoundChat,
  texts: ChatTexts,
  words: readonly string[],
): Promise<readonly HitRow[]> {
  const title = await texts.title(chat);
  if (words.length === 0) return [rowOf(chat, title, { offset: 0, snippet: '' })];
  const text = await texts.text(chat).catch(() => undefined);
  const hits = text === undefined ? [] : searchChat(text, title, words, MAX_HITS_OF_CHAT);
  return hits.map((hit) => rowOf(chat, title, hit));
}

function showRows(pick: vscode.QuickPick<HitRow>, rows: readonly HitRow[]): void {
  const active = pick.activeItems[0];
  const same =
    active && rows.find(({ chat, offset }) => chat.uri === active.chat.uri && offset === active.offset);
  pick.items = rows.slice(0, MAX_HITS);
  if (same) pick.activeItems = [same];
}

function rowOf(chat: FoundChat, title: string, { role, offset, snippet }: SearchHit): HitRow {
  const age = ageText(chat.changedAt, Date.now(), vscode.env.language);
  return {
    label: withoutIcons(title),
    description: [vscode.workspace.asRelativePath(chat.uri), ...(role ? [role] : []), age].join(' · '),
    ...(snippet && { detail: withoutIcons(snippet) }),
    // The rows match already; Quick Pick must not filter them again.
    alwaysShow: true,
    chat,
    offset,
  };
}

/** Text of a chat must not render icons. */
function withoutIcons(words: string): string {
  return words.replace(/\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g, '\\$&');
}

async function openAt({ chat, offset }: HitRow): Promise<void> {
  const document = await vscode.workspace.openTextDocument(chat.uri);
  await showAt(document, offset, { preview: false });
}
