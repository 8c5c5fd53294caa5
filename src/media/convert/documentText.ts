import { isTextType, mediaByType } from '../table.ts';
import {
  type DocumentReader,
  type DocumentText,
  MAX_DOCUMENT_CHARS,
  type PageRange,
  type Section,
} from './job.ts';
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
  epub: 'office',
  rtf: 'office',
  xlsx: 'sheet',
  xlsm: 'sheet',
  ods: 'sheet',
  html: 'html',
  ipynb: 'notebook',
  eml: 'mail',
  zip: 'zip',
};

/** A larger document is not read. */
export const MAX_DOCUMENT_BYTES = 30_000_000;

/** How documents of this type are read as text; undefined for other files. Text in UTF-8 needs no reader. */
export function documentReader(mimeType: string): DocumentReader | undefined {
  const extension = mediaByType(mimeType)?.extension ?? '';
  if (Object.hasOwn(READERS, extension)) return READERS[extension];
  return isTextType(mimeType) ? 'plain' : undefined;
}

/** Keeps the chosen pages, as far as they are not too long. */
export function selectText(
  document: DocumentText,
  pages: readonly PageRange[] | undefined,
  maxChars: number = MAX_DOCUMENT_CHARS,
): DocumentText {
  const chosen = new Set(selectPages(pages, document.total ?? 0));
  const sections: Section[] = [];
  let left = maxChars;
  for (const section of document.sections) {
    if (section.number !== undefined && !chosen.has(section.number)) continue;
    if (left <= 0) return { ...document, sections, isCut: true };
    sections.push({ ...section, text: section.text.slice(0, left).toWellFormed() });
    left -= section.text.length;
  }
  return { ...document, sections, ...(left < 0 ? { isCut: true } : {}) };
}

/** As Markdown, each page with a heading. */
export function renderDocument({ unit, total, sections, isCut }: DocumentText): string {
  const texts = sections.map(({ number, title, text }) => {
    if (unit === undefined || number === undefined) return text;
    const heading = `## ${UNITS[unit]} ${number}${title === undefined ? '' : `: ${title}`}`;
    return text === '' ? heading : `${heading}\n\n${text}`;
  });
  const last = sections.at(-1)?.number;
  const cut = last === undefined ? CUT : `[Cut at ${unit} ${last} of ${total}: there is more.]`;
  return [...texts, ...(isCut ? [cut] : [])].join('\n\n');
}

const CUT = '[Cut: there is more.]';
const UNITS = { page: 'Page', slide: 'Slide', sheet: 'Sheet' } as const;

/** `12 pages` */
export function countPages({ unit, total }: Pick<DocumentText, 'unit' | 'total'>): string | undefined {
  if (unit === undefined || total === undefined) return undefined;
  return total === 1 ? `1 ${unit}` : `${total} ${unit}s`;
}
