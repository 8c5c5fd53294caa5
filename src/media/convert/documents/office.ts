import { strFromU8, strToU8 } from 'fflate';
import { OfficeGenerator, type OfficeParserAST, parseOffice } from 'officeparser';
import { ConversionError, type DocumentJob, type DocumentText } from '../job.ts';
import { readEpub } from './epub.ts';
import { readableOpenDocument } from './opendocument.ts';
import { inShownOrder } from './slides.ts';
import { readableWord } from './word.ts';
import { checkInflated, withPart } from './zipped.ts';

/** Word, PowerPoint, OpenDocument, EPUB and RTF. */
export async function readOffice({ bytes }: DocumentJob): Promise<DocumentText> {
  const form = formOf(bytes);
  if (form === 'epub') return readEpub(bytes);
  const readable = READABLE[form]?.(bytes) ?? bytes;
  const document = await parseOffice(Buffer.from(readable), {
    extractAttachments: false,
    ocr: false,
    ...(form !== 'opendocument' && { fileType: form }),
  });
  const slides = document.content.filter(({ type }) => type === 'slide');
  if (slides.length === 0) return { sections: [{ text: await toMarkdown(document) }] };
  const sections = [];
  for (const [at, slide] of slides.entries()) {
    const text = await toMarkdown({ ...document, metadata: {}, content: [slide] });
    // The library separates slides with lines.
    sections.push({ number: at + 1, text: text.replace(/^(?:---\s*)+/, '') });
  }
  return { unit: 'slide', total: slides.length, sections };
}

type Form = 'rtf' | 'epub' | 'docx' | 'pptx' | 'opendocument';

/** From the contents: documents with macros have the same parts as those without. */
function formOf(bytes: Uint8Array): Form {
  if (strFromU8(bytes.subarray(0, 5), true) === '{\\rtf') return 'rtf';
  const parts: readonly (readonly [part: string, Form])[] = [
    ['word/document.xml', 'docx'],
    ['ppt/presentation.xml', 'pptx'],
    ['META-INF/container.xml', 'epub'],
    ['content.xml', 'opendocument'],
  ];
  const names = bytes[0] === 0x50 ? checkInflated(bytes) : [];
  const [, form] = parts.find(([part]) => names.includes(part)) ?? [];
  if (form === undefined) throw new ConversionError('it is not such a document');
  return form;
}

/** Changes what the library would read wrong. */
const READABLE: Partial<Record<Form, (bytes: Uint8Array) => Uint8Array>> = {
  rtf: (bytes) => strToU8(withoutFallbacks(strFromU8(bytes, true)), true),
  pptx: (bytes) => inShownOrder(withPart(bytes, /^ppt\/slides\/[^/]+\.xml$/, withoutAlternatives)),
  docx: (bytes) => withPart(bytes, /^word\/(?:document|footnotes|endnotes)\.xml$/, readableWord),
  opendocument: (bytes) => withPart(bytes, /^content\.xml$/, readableOpenDocument),
};

const RTF_TOKEN =
  /\\u(-?\d{1,6}) ?|\\uc(\d{1,2}) ?|\\'[0-9a-f]{2}|\\[a-z]+-?\d* ?|\\[\s\S]|[{}]|[\r\n]+|[^\\{}\r\n]+/gi;

/** Dashes, bullets and spaces that the library drops or takes for other signs. A hyphen may be optional. */
const RTF_SIGNS: ReadonlyMap<string, string> = new Map([
  ['\\emdash', '\\u8212 '],
  ['\\endash', '\\u8211 '],
  ['\\bullet', '\\u8226 '],
  ['\\emspace', '\\u8195 '],
  ['\\enspace', '\\u8194 '],
  ['\\~', '\\u160 '],
  ['\\_', '\\u8209 '],
  ['\\-', ''],
]);

/**
 * RTF without the characters for programs that do not know Unicode: each `\u` is followed by one or more of them.
 * The library takes them for text.
 */
function withoutFallbacks(rtf: string): string {
  const counts = [1];
  let skipped = 0;
  return rtf.replace(RTF_TOKEN, (token, unicode: string | undefined, count: string | undefined) => {
    if (unicode !== undefined) {
      skipped = counts.at(-1) ?? 1;
      return `\\u${unicode} `;
    }
    if (token === '{') counts.push(counts.at(-1) ?? 1);
    if (token === '}' && counts.length > 1) counts.pop();
    if (count !== undefined) counts[counts.length - 1] = Number(count);
    if (token === '{' || token === '}' || count !== undefined) skipped = 0;
    if (skipped === 0 || /^[\r\n]/.test(token)) return RTF_SIGNS.get(token.trimEnd()) ?? token;
    const taken = token.startsWith('\\') ? 1 : Math.min(skipped, token.length);
    skipped -= taken;
    return token.startsWith('\\') ? '' : token.slice(taken);
  });
}

/** PowerPoint writes a text with a formula as one of two alternatives, which the library skips. */
function withoutAlternatives(xml: string): string {
  return xml
    .replace(/<mc:Fallback\b[\s\S]*?<\/mc:Fallback>|<\/?(?:mc:AlternateContent|mc:Choice|a14:m)\b[^>]*>/g, '')
    .replace(
      /<m:oMath\b[\s\S]*?<\/m:oMath>/g,
      (formula) => `<a:r><a:t>${formula.replace(/<[^>]*>/g, '')}</a:t></a:r>`,
    );
}

async function toMarkdown(document: OfficeParserAST): Promise<string> {
  const { value } = await OfficeGenerator.generate(document, 'md', {
    mdConfig: { dialect: 'github', fallbackToHtml: false },
  });
  // The library marks headings with their anchors.
  return value.replace(/^(#{1,6} .*) \{#[^{}\n]*\}$/gm, '$1').trim();
}
