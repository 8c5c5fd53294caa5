import { messageOf } from '../../base/errors.ts';
import { field } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escape.ts';

/** What a server may claim about itself before it is cut short. */
export const MAX_ITEMS = 1000;
/** How many entries are looked at, also of those that are left out. */
const MAX_ENTRIES = 10_000;
const MAX_PAGES = 100;
const MAX_CURSOR_CHARS = 64 * 1024;
const MAX_NOTICES = 20;
const MAX_NOTICE_CHARS = 400;

/** One kind of thing that servers list. */
export interface Listed<T> {
  /** The field of the answer that holds them. */
  readonly field: string;
  /** What one of them is called; several have an “s”. */
  readonly one: string;
  /** The item, or what is wrong with it as the end of a sentence. */
  read(definition: unknown): T | string;
  /** What no two of them may share. */
  key(item: T): string;
}

export interface Collected<T> {
  readonly items: readonly T[];
  /** What was left out or cut, one sentence each. */
  readonly notices: readonly string[];
  /** Why the rest of the list could not be read. */
  readonly failure?: string;
}

/** Asks for the page at a cursor; the first one has none. */
export type AskPage = (cursor: string | undefined) => Promise<unknown>;

/** Walks all pages of a list. What came before a failure is kept. */
export async function collectPages<T extends object>(
  listed: Listed<T>,
  askPage: AskPage,
): Promise<Collected<T>> {
  const list = new GrowingList(listed);
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  try {
    do {
      const page = await askPage(cursor);
      list.add(page);
      cursor = nextCursor(page);
      const isLong = seenCursors.size >= MAX_PAGES || (cursor?.length ?? 0) > MAX_CURSOR_CHARS;
      if (list.isFull || (cursor !== undefined && isLong)) {
        return list.collected({ notice: `The list of ${listed.one}s was cut after ${list.size}.` });
      }
      if (cursor !== undefined && seenCursors.has(cursor)) {
        return list.collected({ notice: `The list of ${listed.one}s does not end; it was read once.` });
      }
      if (cursor !== undefined) seenCursors.add(cursor);
    } while (cursor !== undefined);
  } catch (error) {
    return list.collected({ failure: messageOf(error) });
  }
  return list.collected({});
}

/** Text of a server that may be too long. */
export function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`;
}

class GrowingList<T extends object> {
  readonly #listed: Listed<T>;
  readonly #items = new Map<string, T>();
  readonly #notices: string[] = [];
  #entries = 0;
  #unsaid = 0;
  /** More came than is kept. */
  isFull = false;

  constructor(listed: Listed<T>) {
    this.#listed = listed;
  }

  get size(): number {
    return this.#items.size;
  }

  add(page: unknown): void {
    const entries = field(page, this.#listed.field);
    if (!Array.isArray(entries)) {
      throw new Error(`it answered without a list of ${this.#listed.one}s`);
    }
    for (const [index, definition] of entries.entries()) {
      if (this.#items.size >= MAX_ITEMS || this.#entries >= MAX_ENTRIES) {
        this.isFull = true;
        return;
      }
      this.#entries += 1;
      this.#addItem(definition, `${index + 1} of ${entries.length}`);
    }
  }

  collected({ notice, failure }: { readonly notice?: string; readonly failure?: string }): Collected<T> {
    const unsaid = this.#unsaid > 0 ? [`${this.#unsaid} more entries are left out.`] : [];
    return {
      items: [...this.#items.values()],
      notices: [...this.#notices, ...unsaid, ...(notice === undefined ? [] : [notice])],
      ...(failure === undefined ? {} : { failure }),
    };
  }

  #addItem(definition: unknown, place: string): void {
    const { one, read, key } = this.#listed;
    const item = read(definition);
    if (typeof item === 'string') this.#note(`${capital(one)} ${place} is left out: ${item}.`);
    else if (this.#items.has(key(item))) {
      this.#note(`${capital(one)} ${JSON.stringify(key(item))} is listed twice; the first one counts.`);
    } else this.#items.set(key(item), item);
  }

  #note(notice: string): void {
    if (this.#notices.length >= MAX_NOTICES) this.#unsaid += 1;
    else this.#notices.push(showInvisible(cut(notice, MAX_NOTICE_CHARS)));
  }
}

function nextCursor(page: unknown): string | undefined {
  const cursor = field(page, 'nextCursor');
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** What a server may say about one of its things. */
export const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 4000;

// In a chat a name is written encoded as one word; only what nobody could read is refused.
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** The name by which a tool, a prompt or an argument is called, or what is wrong with it. */
export function readName(definition: unknown): { readonly name: string } | string {
  const name = field(definition, 'name');
  if (typeof name !== 'string') return 'it has no name';
  return NAME.test(name)
    ? { name }
    : `its name ${JSON.stringify(name.slice(0, MAX_TITLE_CHARS))} has characters that cannot be seen, or too many`;
}

/** The title and the description, cut, where there are any. */
export function readTexts(definition: unknown): { readonly title?: string; readonly description?: string } {
  const title = field(definition, 'title') ?? field(field(definition, 'annotations'), 'title');
  const description = field(definition, 'description');
  return {
    ...(typeof title === 'string' ? { title: cut(title, MAX_TITLE_CHARS) } : {}),
    ...(typeof description === 'string' ? { description: cut(description, MAX_DESCRIPTION_CHARS) } : {}),
  };
}
