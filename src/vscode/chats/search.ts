import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import { type SearchHit, searchChat, searchWords } from '../../chat/outline/search.ts';
import { ageText } from './ages.ts';
import type { ChatList, ChatTexts, FoundChat } from './list.ts';

interface HitRow extends vscode.QuickPickItem {
  readonly chat: FoundChat;
  readonly offset: number;
}

const MAX_HITS = 200;
const MAX_HITS_OF_CHAT = 10;
/** Between two keys of somebody who types. */
const TYPING_MS = 120;
/** How many chats are read before the list shows what was found. */
const CHATS_AT_ONCE = 24;

/** A list that searches all chats as somebody types, and opens the chosen turn. */
export class SearchPick {
  readonly #list: ChatList;
  readonly #texts: ChatTexts;

  constructor(list: ChatList, texts: ChatTexts) {
    this.#list = list;
    this.#texts = texts;
  }

  async show(query: string): Promise<void> {
    const pick = vscode.window.createQuickPick<HitRow>();
    let searching = new AbortController();
    let soon: NodeJS.Timeout | undefined;
    const search = () => {
      searching.abort();
      searching = new AbortController();
      void this.#fill(pick, searching.signal);
    };
    pick.title = vscode.l10n.t('Search Chats');
    pick.placeholder = vscode.l10n.t('Words that are in a title or in a turn');
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

  /** Without words, the chats themselves. */
  async #fill(pick: vscode.QuickPick<HitRow>, signal: AbortSignal): Promise<void> {
    pick.busy = true;
    const words = searchWords(pick.value);
    const chats = await this.#list.all();
    const rows: HitRow[] = [];
    for (let at = 0; at < chats.length && rows.length < MAX_HITS; at += CHATS_AT_ONCE) {
      const found = await Promise.all(
        chats.slice(at, at + CHATS_AT_ONCE).map((chat) => this.#rowsOf(chat, words)),
      );
      // Texts that are kept need no waiting; the next key would wait for all of them.
      await setImmediate();
      if (signal.aborted) return;
      rows.push(...found.flat());
      if (found.some(({ length }) => length > 0)) showRows(pick, rows);
    }
    if (rows.length === 0) pick.items = [];
    pick.placeholder =
      chats.length === 0
        ? vscode.l10n.t('There are no chats in this workspace.')
        : vscode.l10n.t('Words that are in a title or in a turn');
    pick.busy = false;
  }

  async #rowsOf(chat: FoundChat, words: readonly string[]): Promise<readonly HitRow[]> {
    const title = await this.#texts.title(chat);
    if (words.length === 0) return [rowOf(chat, title, { offset: 0, snippet: '' })];
    try {
      const text = await this.#texts.text(chat);
      return searchChat(text, title, words, MAX_HITS_OF_CHAT).map((hit) => rowOf(chat, title, hit));
    } catch {
      // One that cannot be read has nothing to show; the others have.
      return [];
    }
  }
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
    description: role ? `${role} · ${age}` : age,
    detail: withoutIcons(snippet) || vscode.workspace.asRelativePath(chat.uri),
    // The words were found already; the list must not look for them as it does, letter by letter.
    alwaysShow: true,
    chat,
    offset,
  };
}

/** What is in a chat draws no icons. */
function withoutIcons(words: string): string {
  return words.replace(/\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/g, '\\$&');
}

async function openAt({ chat, offset }: HitRow): Promise<void> {
  const document = await vscode.workspace.openTextDocument(chat.uri);
  const place = document.positionAt(offset);
  const editor = await vscode.window.showTextDocument(document, {
    preview: false,
    selection: new vscode.Range(place, place),
  });
  editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
