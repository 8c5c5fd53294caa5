import { mediaByType } from '../table.ts';
import type { DocumentReader, DocumentText, PageRange } from './job.ts';
import { selectPages } from './pages.ts';

/** By extension, because the types of Office are long. */
const READERS: Readonly<Record<string, DocumentReader>> = {
  pdf: 'pdf',
  docx: 'office',
  docm: 'office',
  pptx: 'office',
  pptm: 'office',
  odt: 'office',
  odp: 'office',
  ods: 'office',
  epub: 'office',
  rtf: 'office',
  xlsx: 'sheet',
  xlsm: 'sheet',
  html: 'html',
  ipynb: 'notebook',
  eml: 'mail',
  zip: 'zip',
};

/** A larger document is not read. */
export const MAX_DOCUMENT_BYTES = 30_000_000;

/** How documents of this type are read as text; undefined for other files. */
export function documentReader(mimeType: string): DocumentReader | undefined {
  const extension = mediaByType(mimeType)?.extension ?? '';
  return Object.hasOwn(READERS, extension) ? READERS[extension] : undefined;
}

/** The text of the chosen pages, each with a heading, as Markdown. */
export function renderDocument(document: DocumentText, pages?: readonly PageRange[]): string {
  const { unit, total = 0, sections, isCut } = document;
  const chosen = new Set(selectPages(pages, total));
  const texts = sections
    .filter(({ number }) => number === undefined || chosen.has(number))
    .map(({ number, title, text }) => {
      if (unit === undefined || number === undefined) return text;
      const heading = `## ${UNITS[unit]} ${number}${title === undefined ? '' : `: ${title}`}`;
      return text === '' ? heading : `${heading}\n\n${text}`;
    });
  const last = sections.at(-1)?.number;
  const cut = last === undefined ? CUT : `[Cut after ${unit} ${last} of ${total}.]`;
  return [...texts, ...(isCut ? [cut] : [])].join('\n\n');
}

const CUT = '[Cut: there is more.]';
const UNITS = { page: 'Page', slide: 'Slide', sheet: 'Sheet' } as const;

/** `12 pages` */
export function countPages({ unit, total }: Pick<DocumentText, 'unit' | 'total'>): string | undefined {
  if (unit === undefined || total === undefined) return undefined;
  return total === 1 ? `1 ${unit}` : `${total} ${unit}s`;
}
