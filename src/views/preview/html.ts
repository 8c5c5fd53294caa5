import { describeSize } from '../../base/size.ts';

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for elements and quoted attributes. */
export function toHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? '');
}

/** Keeps the formatters, which are slow to create. */
export class Formats {
  readonly #locale: string;
  #time: Intl.DateTimeFormat | undefined;
  #decimal: Intl.NumberFormat | undefined;

  constructor(locale: string) {
    this.#locale = locale;
  }

  /** Takes the six numbers of an asset name, which are in the local time of the tool run. */
  time(numbers: string): string {
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = numbers.split(' ').map(Number);
    const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
    this.#time ??= new Intl.DateTimeFormat(this.#locale, {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'UTC',
    });
    const iso = time.toISOString().slice(0, 19);
    return `<time class="filechat-time" datetime="${iso}">${toHtml(this.#time.format(time))}</time>`;
  }

  size(bytes: number): string {
    this.#decimal ??= new Intl.NumberFormat(this.#locale, {
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    });
    return describeSize(bytes, this.#decimal.format);
  }
}
