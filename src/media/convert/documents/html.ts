import { htmlToMarkdown } from '@mdream/js';
import type { DocumentJob, DocumentText } from '../job.ts';

export function readHtml({ bytes }: DocumentJob): DocumentText {
  return { sections: [{ text: toMarkdown(new TextDecoder().decode(bytes)) }] };
}

export function toMarkdown(html: string): string {
  // The library takes <font> for a block, and drops the space before it.
  return htmlToMarkdown(html.replace(/<(\/?)font\b/gi, '<$1span'))
    .replace(/\(data:[^()\s]*\)/g, '(data:)')
    .trim();
}
