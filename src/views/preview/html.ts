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

export type Formats = ReturnType<typeof createFormats>;

/** The formatters are slow to create. */
export function createFormats(locale: string) {
  const clock = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  const decimal = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  return {
    /** Takes the six numbers of an asset name, which are in the local time of the tool run. */
    time(numbers: string): string {
      const [year = 0, month = 1, ...rest] = numbers.split(' ').map(Number);
      const time = new Date(Date.UTC(year, month - 1, ...rest));
      const iso = time.toISOString().slice(0, 19);
      return `<time class="filechat-time" datetime="${iso}">${toHtml(clock.format(time))}</time>`;
    },
    size: (bytes: number) => describeSize(bytes, decimal.format),
  };
}
