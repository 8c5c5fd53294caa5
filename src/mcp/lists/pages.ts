import { TimeSlice } from '../../base/async.ts';
import { BUDGET } from '../../base/budget.ts';
import { messageOf } from '../../base/errors.ts';
import { defined, field, jsonChars } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';

export const MAX_ITEMS: number = BUDGET.listItems;
const MAX_CURSOR_CHARS = 64 * 1024;
const MAX_NOTICES = 20;
const MAX_NOTICE_CHARS = 400;

export interface Listed<T> {
  /** The singular of the noun for messages. */
  readonly one: 'tool' | 'resource' | 'template' | 'prompt';
  /** The item, or the problem as the end of a sentence. */
  read(definition: unknown): T | string;
  /** Identifies an item. */
  key(item: T): string;
}

export interface Collected<T> {
  readonly items: readonly T[];
  /** Omitted or shortened items, one sentence each. */
  readonly notices: readonly string[];
  /** The reason why the rest of the list could not be read. */
  readonly failure?: string;
}

/** Requests a page. The first page has no parameters. */
export type PageRequest = (method: string, params: { readonly cursor?: string }) => Promise<unknown>;

/** The methods of lists, and the fields of their responses. */
const LISTS = {
  tool: ['tools/list', 'tools'],
  resource: ['resources/list', 'resources'],
  template: ['resources/templates/list', 'resourceTemplates'],
  prompt: ['prompts/list', 'prompts'],
} as const;

/** Reads all pages of a list. Items before a failure are kept. */
export async function collectPages<T extends object>(
  listed: Listed<T>,
  request: PageRequest,
): Promise<Collected<T>> {
  const list = new ItemList(listed);
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  try {
    do {
      const page = await request(LISTS[listed.one][0], defined({ cursor }));
      await list.add(page);
      cursor = nextCursor(page);
      const isLong = seenCursors.size >= BUDGET.listPages || (cursor?.length ?? 0) > MAX_CURSOR_CHARS;
      if (list.isFull || (cursor !== undefined && isLong)) {
        return list.collected({ notice: `The list of ${listed.one}s was cut after ${list.size}.` });
      }
      if (cursor !== undefined && seenCursors.has(cursor)) {
        return list.collected({ notice: `The list of ${listed.one}s repeats itself; it was read once.` });
      }
      if (cursor !== undefined) seenCursors.add(cursor);
    } while (cursor !== undefined);
  } catch (error) {
    return list.collected({ failure: messageOf(error) });
  }
  return list.collected({});
}

export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`;
}

class ItemList<T extends object> {
  readonly #listed: Listed<T>;
  readonly #items = new Map<string, T>();
  readonly #notices: string[] = [];
  #entries = 0;
  #charsLeft: number = BUDGET.listChars;
  #omittedNotices = 0;
  isFull = false;

  constructor(listed: Listed<T>) {
    this.#listed = listed;
  }

  get size(): number {
    return this.#items.size;
  }

  async add(page: unknown): Promise<void> {
    const { one } = this.#listed;
    const entries = field(page, LISTS[one][1]);
    if (!Array.isArray(entries)) throw new Error(`its response has no list of ${one}s`);
    const slice = new TimeSlice();
    for (const [index, definition] of entries.entries()) {
      if (slice.isOver()) await slice.pause();
      const isOver = this.#items.size >= MAX_ITEMS || this.#entries >= BUDGET.listEntries;
      if (!isOver) this.#charsLeft -= jsonChars(definition, this.#charsLeft);
      if (isOver || this.#charsLeft < 0) {
        this.isFull = true;
        return;
      }
      this.#entries += 1;
      this.#addItem(definition, `${index + 1} of ${entries.length}`);
    }
  }

  collected({ notice, failure }: { readonly notice?: string; readonly failure?: string }): Collected<T> {
    const omitted = this.#omittedNotices > 0 ? [`${this.#omittedNotices} more entries are ignored.`] : [];
    return {
      items: [...this.#items.values()],
      notices: [...this.#notices, ...omitted, ...(notice === undefined ? [] : [notice])],
      ...defined({ failure }),
    };
  }

  #addItem(definition: unknown, place: string): void {
    const { one, read, key } = this.#listed;
    const item = read(definition);
    if (typeof item === 'string') this.#note(`${capital(one)} ${place} is ignored: ${item}.`);
    else if (this.#items.has(key(item))) {
      this.#note(`${capital(one)} ${JSON.stringify(key(item))} is listed twice; the first one counts.`);
    } else this.#items.set(key(item), item);
  }

  #note(notice: string): void {
    if (this.#notices.length >= MAX_NOTICES) this.#omittedNotices += 1;
    else this.#notices.push(showInvisible(shorten(notice, MAX_NOTICE_CHARS)));
  }
}

function nextCursor(page: unknown): string | undefined {
  const cursor = field(page, 'nextCursor');
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

export const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 16_000;

// Names are encoded in chats, so only invisible characters are refused.
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** The name of a tool, a prompt or an argument, or the problem with it. */
export function readName(definition: unknown): { readonly name: string } | string {
  const name = field(definition, 'name');
  if (typeof name !== 'string') return 'it has no name';
  return NAME.test(name)
    ? { name }
    : `its name ${JSON.stringify(name.slice(0, MAX_TITLE_CHARS))} is too long or has invisible characters`;
}

export function readTexts(definition: unknown): { readonly title?: string; readonly description?: string } {
  const title = field(definition, 'title') ?? field(field(definition, 'annotations'), 'title');
  const description = field(definition, 'description');
  return defined({
    title: typeof title === 'string' ? shorten(title, MAX_TITLE_CHARS) : undefined,
    description: typeof description === 'string' ? shorten(description, MAX_DESCRIPTION_CHARS) : undefined,
  });
}

const MAX_ICON_CHARS = 64 * 1024;
const MAX_ICONS = 20;
/** SVG is safe because icons are shown as images only, where scripts do not run. Never insert one into a page as markup. */
const BASE64_IMAGE = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/;
const PLAIN_SVG = /^data:image\/svg\+xml(?:;charset=utf-8|;utf8)?,/i;

/** The first icon that is a data: URL, in base64. Icons at other addresses are never loaded. */
export function pickIcon(icons: unknown): string | undefined {
  if (!Array.isArray(icons)) return undefined;
  for (const icon of icons.slice(0, MAX_ICONS)) {
    const source = field(icon, 'src');
    const url = typeof source === 'string' && source.length <= MAX_ICON_CHARS ? asBase64(source) : undefined;
    if (url !== undefined && url.length <= MAX_ICON_CHARS) return url;
  }
  return undefined;
}

/** Base64 has no characters that are special in HTML or CSS. */
function asBase64(url: string): string | undefined {
  const [start] = PLAIN_SVG.exec(url) ?? [];
  if (start === undefined) return BASE64_IMAGE.test(url) ? url : undefined;
  try {
    const svg = decodeURIComponent(url.slice(start.length));
    return `data:image/svg+xml;base64,${Buffer.from(svg, 'utf8').toString('base64')}`;
  } catch {
    // A “%” that does not begin an escape.
    return undefined;
  }
}
