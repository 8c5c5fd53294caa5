import { OfficeGenerator, type OfficeParserAST, parseOffice } from 'officeparser';
import type { DocumentJob, DocumentText } from '../job.ts';
import { checkInflated } from './zipped.ts';

/** Word, PowerPoint, OpenDocument, EPUB and RTF. */
export async function readOffice({ bytes }: DocumentJob): Promise<DocumentText> {
  // RTF is text.
  if (bytes[0] === 0x50) checkInflated(bytes);
  const document = await parseOffice(Buffer.from(bytes), { extractAttachments: false, ocr: false });
  const slides = document.content.filter(({ type }) => type === 'slide');
  if (slides.length === 0) return { sections: [{ text: await toMarkdown(document) }] };
  const sections = [];
  for (const [at, slide] of slides.entries()) {
    const text = await toMarkdown({ ...document, content: [slide] });
    // The library separates slides with lines.
    sections.push({ number: at + 1, text: text.replace(/^(?:---\s*)+/, '') });
  }
  return { unit: 'slide', total: slides.length, sections };
}

async function toMarkdown(document: OfficeParserAST): Promise<string> {
  const { value } = await OfficeGenerator.generate(document, 'md', {
    mdConfig: { dialect: 'github', fallbackToHtml: false },
  });
  // The library marks headings with their anchors.
  return value.replace(/^(#{1,6} .*) \{#[^{}\n]*\}$/gm, '$1').trim();
}
