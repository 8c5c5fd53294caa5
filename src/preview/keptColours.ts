type Highlight = (text: string, language: string, attributes: string) => string;

/** Far more than the code of a long chat. */
const MAX_CHARS = 4_000_000;

/**
 * Colours of code that was coloured before. A preview is rendered as a whole at each change, and colouring the same
 * blocks again is most of the work.
 */
export class KeptColours {
  readonly #maxChars: number;
  #highlight: Highlight | undefined;
  /** The one that was used last is at the end. */
  readonly #kept = new Map<string, string>();
  #chars = 0;

  constructor(maxChars = MAX_CHARS) {
    this.#maxChars = maxChars;
  }

  of(highlight: Highlight, text: string, language: string): string {
    if (highlight !== this.#highlight) this.#forgetAll();
    this.#highlight = highlight;
    const key = `${language}\n${text}`;
    const coloured = this.#take(key) ?? highlight(text, language, '');
    this.#kept.set(key, coloured);
    this.#chars += key.length + coloured.length;
    for (const [oldest] of this.#kept) {
      if (this.#chars <= this.#maxChars) break;
      this.#take(oldest);
    }
    return coloured;
  }

  #take(key: string): string | undefined {
    const coloured = this.#kept.get(key);
    if (coloured === undefined) return undefined;
    this.#kept.delete(key);
    this.#chars -= key.length + coloured.length;
    return coloured;
  }

  #forgetAll(): void {
    this.#kept.clear();
    this.#chars = 0;
  }
}
