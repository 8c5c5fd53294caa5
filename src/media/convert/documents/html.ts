import { htmlToMarkdown } from '@mdream/js';
import type { DocumentJob, DocumentText } from '../job.ts';

export function readHtml({ bytes }: DocumentJob): DocumentText {
  return { sections: [{ text: toMarkdown(new TextDecoder().decode(bytes)) }] };
}

export function toMarkdown(html: string): string {
  return htmlToMarkdown(html)
    .replace(/\(data:[^()\s]*\)/g, '(data:)')
    .trim();
}
