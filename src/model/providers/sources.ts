import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { field, fieldsOf, listOf, textOf } from '../../base/json.ts';

type SourcePart = Extract<LanguageModelV4StreamPart, { type: 'source' }>;

/** The pages that a reply cites, as numbered links: after the text that cites them, and in a list at the end. */
export class Sources {
  readonly #lines: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** The text of the open block, and what it cites. */
  #text = '';
  #cited = new Set<string>();

  grow(text: string): void {
    if (this.#text.length < MAX_TEXT_CHARS) this.#text += text;
  }

  /** Of the results of a search, Anthropic reports all. Only those that the text cites are sources. */
  see(part: SourcePart): void {
    const { anthropic } = part.providerMetadata ?? {};
    if (part.sourceType !== 'url' || (anthropic && anthropic['citedText'] === undefined)) return;
    this.#cite(part.url, part.title);
  }

  /** Reads what the SDK drops: the citations of OpenAI and Anthropic if a search reports what it has found. */
  readRaw(chunk: unknown): void {
    const { annotation, delta, choices } = fieldsOf(chunk);
    const { type, url, title } = fieldsOf(annotation ?? field(delta, 'citation'));
    if (type === 'url_citation' || type === 'web_search_result_location') this.#citePage({ url, title });
    const [choice] = listOf(choices);
    if (choice !== undefined)
      this.#readChat(fieldsOf(chunk), field(choice, 'delta') ?? field(choice, 'message'));
  }

  /** The citations of OpenRouter, and those of Perplexity and xAI, whose text has the numbers of the pages. */
  #readChat({ search_results: found, citations }: ReturnType<typeof fieldsOf>, delta: unknown): void {
    for (const each of listOf(field(delta, 'annotations')))
      this.#citePage(fieldsOf(field(each, 'url_citation')));
    const pages = listOf(found).length > 0 ? listOf(found) : listOf(citations);
    for (const each of pages) {
      const page = typeof each === 'string' ? { url: each } : fieldsOf(each);
      this.#citePage(page, { isNumbered: true });
    }
  }

  #citePage(
    { url, title }: { readonly url?: unknown; readonly title?: unknown },
    { isNumbered = false } = {},
  ): void {
    if (typeof url === 'string' && url !== '') this.#cite(url, textOf(title), isNumbered);
  }

  /** `isNumbered`: the text has a number for it already. */
  #cite(address: string, name = '', isNumbered = false): void {
    const url = safeUrl(address);
    const title = plainTitle(name) || plainTitle(address);
    const key = url ?? title;
    if (!this.#numbers.has(key)) {
      if (this.#lines.length >= MAX_SOURCES) return;
      this.#lines.push(url === undefined ? title : `[${title}](${url})`);
      this.#numbers.set(key, this.#lines.length);
    }
    if (url !== undefined && !isNumbered) this.#cited.add(url);
  }

  /** Ends the block. Some providers write the links into the text themselves. */
  endBlock(): string {
    const urls = [...this.#cited].filter((url) => !this.#text.includes(url));
    const hasText = this.#text.trim() !== '';
    this.#text = '';
    this.#cited = new Set();
    return hasText ? urls.map((url) => ` [${this.#numbers.get(url)}](${url})`).join('') : '';
  }

  end(): string {
    if (this.#lines.length === 0) return '';
    return `\n\nSources:\n\n${this.#lines.map((line, at) => `${at + 1}. ${line}`).join('\n')}`;
  }
}

const MAX_SOURCES = 500;
/** Of one block. Each of its sources is looked for in it. */
const MAX_TEXT_CHARS = 200_000;
const MAX_URL_CHARS = 2000;
const MAX_TITLE_CHARS = 120;
/** What a title is read from. */
const MAX_READ_CHARS = 2000;

/** A web address that cannot end its link early. */
function safeUrl(text: string): string | undefined {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return undefined;
  return href.replace(/[()<>[\]\\`!|]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Words that are neither a link nor a tag. */
function plainTitle(text: string): string {
  const read = text.slice(0, MAX_READ_CHARS);
  const words = read.replace(/[^\p{L}\p{N}\p{M}.,:;?&'’“”–—()/ -]+/gu, ' ').replace(/ +/g, ' ');
  return Array.from(words.trim()).slice(0, MAX_TITLE_CHARS).join('').trim();
}
