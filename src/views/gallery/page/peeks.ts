import type { GalleryItem } from '../item.ts';
import { countPdfPages } from '../peeks.ts';
import { fillIn, type Words } from '../words.ts';

const PEEK_CHARS = 700;
const MAX_KEPT = 400;

/** Reads the first lines of texts and the page counts of PDFs for visible tiles. */
export class Peeks {
  readonly #words: Words;
  readonly #kept = new Map<string, string>();

  constructor(words: Words) {
    this.#words = words;
  }

  show(item: GalleryItem, into: HTMLElement): void {
    const known = this.#kept.get(item.id);
    if (known !== undefined) into.textContent = known;
    else void this.#read(item, into);
  }

  async #read(item: GalleryItem, into: HTMLElement): Promise<void> {
    if (item.source === undefined) return;
    try {
      const text = item.kind === 'pdf' ? await this.#describePdf(item.source) : await readStart(item.source);
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined && this.#kept.size >= MAX_KEPT) this.#kept.delete(oldest);
      this.#kept.set(item.id, text);
      into.textContent = text;
    } catch {
      // The tile stays without a preview.
    }
  }

  async #describePdf(source: string): Promise<string> {
    const bytes = await (await fetch(source)).arrayBuffer();
    const pages = countPdfPages(new TextDecoder('latin1').decode(bytes));
    if (pages === undefined) return '';
    return pages === 1 ? this.#words.page : fillIn(this.#words.pages, pages);
  }
}

async function readStart(source: string): Promise<string> {
  const reader = (await fetch(source)).body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (reader && text.length < PEEK_CHARS) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  return text.slice(0, PEEK_CHARS);
}
