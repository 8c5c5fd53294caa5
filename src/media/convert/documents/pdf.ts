import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';
import { field, fieldsOf, textOf } from '../../../base/json.ts';
import { visibleLine } from '../../../base/lines.ts';
import {
  ConversionError,
  type DocumentJob,
  type DocumentText,
  MAX_DOCUMENT_CHARS,
  type Section,
} from '../job.ts';
import { selectPages } from '../pages.ts';

/** Below the deadline of the worker, so that a long document is cut instead of refused. */
const MAX_MS = 3500;

/** Otherwise the library would be loaded in the time for the document. */
export async function loadPdf(): Promise<void> {
  await getResolvedPDFJS();
}

export async function readPdf({ bytes, pages }: DocumentJob): Promise<DocumentText> {
  const until = performance.now() + MAX_MS;
  const document = await open(bytes);
  const total = document.numPages;
  const sections: Section[] = [];
  let chars = 0;
  for (const number of selectPages(pages, total)) {
    if (sections.length > 0 && (performance.now() > until || chars > MAX_DOCUMENT_CHARS))
      return { unit: 'page', total, sections, isCut: true };
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
      .join('')
      .replace(RADICALS, (sign) => sign.normalize('NFKC'))
      .trim();
    const typed = (await page.getAnnotations().catch(() => [])).flatMap(typedText);
    page.cleanup();
    const all = [text, typed.join('\n')].filter((each) => each !== '').join('\n\n');
    chars += all.length;
    sections.push({ number, text: all === '' ? NO_TEXT : all });
  }
  return { unit: 'page', total, sections };
}

/** What was filled into a form or written onto the page, which is not part of the text of the page. */
function typedText(annotation: unknown): readonly string[] {
  const { subtype, contentsObj, hidden, password } = fieldsOf(annotation);
  if (hidden === true || password === true) return [];
  if (subtype === 'FreeText') return [textOf(field(contentsObj, 'str')).trim()].filter((each) => each !== '');
  if (subtype !== 'Widget') return [];
  const { fieldType, fieldName, alternativeText, fieldValue } = fieldsOf(annotation);
  const { radioButton, buttonValue, exportValue } = fieldsOf(annotation);
  if (fieldType === 'Btn' && fieldValue !== (radioButton === true ? buttonValue : exportValue)) return [];
  const value = [fieldValue].flat().map(textOf).join(', ').trim();
  const name = visibleLine(textOf(alternativeText) || textOf(fieldName));
  return value === '' ? [] : [`- ${name || 'Field'}: ${value}`];
}

/** Chromium writes some ideographs as the radicals that look like them. */
const RADICALS = /[\u2e80-\u2fdf]/g;
const NO_TEXT = '(This page has no text. It may be a scanned image.)';

async function open(bytes: Uint8Array) {
  try {
    // The library detaches the buffer and does not accept a subclass.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, isEvalSupported: false });
  } catch (error) {
    if (field(error, 'name') === 'PasswordException')
      throw new ConversionError('it is protected by a password');
    throw error;
  }
}
