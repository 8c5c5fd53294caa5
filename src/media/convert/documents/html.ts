import { htmlToMarkdown } from '@mdream/js';
import { decodeOtherText } from '../../../base/encodings.ts';
import { decodeUtf8 } from '../../../base/lines.ts';
import type { DocumentJob, DocumentText } from '../job.ts';

export function readHtml({ bytes }: DocumentJob): DocumentText {
  const html = decodeUtf8(bytes) ?? decodeOtherText(bytes);
  return { sections: [{ text: toMarkdown(html ?? new TextDecoder().decode(bytes)) }] };
}

export function toMarkdown(html: string): string {
  // The library takes <font> for a block, and drops the space before it.
  return htmlToMarkdown(html.replace(/<(\/?)font\b/gi, '<$1span'))
    .replace(/\(data:[^()\s]*\)/g, '(data:)')
    .trim();
}
