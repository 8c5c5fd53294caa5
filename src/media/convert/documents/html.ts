import { htmlToMarkdown } from '@mdream/js';
import { decodeOtherText } from '../../../base/encodings.ts';
import { decodeUtf8 } from '../../../base/lines.ts';
import type { DocumentJob, DocumentText } from '../job.ts';

export function readHtml({ bytes }: DocumentJob): DocumentText {
  const html = decodeUtf8(bytes) ?? decodeOtherText(bytes, declaredEncoding(bytes));
  return { sections: [{ text: toMarkdown(html ?? new TextDecoder().decode(bytes)) }] };
}

/** Browsers look for it in so many bytes. */
const MAX_HEAD_BYTES = 1024;

function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, MAX_HEAD_BYTES));
  return /<meta\b[^>]*\bcharset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
}

export function toMarkdown(html: string): string {
  // The library takes <font> for a block, and drops the space before it.
  return htmlToMarkdown(html.replace(/<(\/?)font\b/gi, '<$1span'))
    .replace(/\(data:[^()\s]*\)/g, '(data:)')
    .trim();
}
