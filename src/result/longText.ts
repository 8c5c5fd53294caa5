import { judgeMarkup } from '../media/sniff.ts';
import { type MediaType, mediaByExtension, mediaByType, UNKNOWN } from '../media/table.ts';

const MAX_PREVIEW_CHARS = 600;
const CUT = '\n…\n';

/** The head and the tail of a text that is too long to show, at line ends where that is possible. */
export function previewText(text: string): string {
  if (text.length <= MAX_PREVIEW_CHARS) return text;
  const room = MAX_PREVIEW_CHARS - CUT.length;
  const head = text.slice(0, Math.ceil(room * 0.6));
  const tail = text.slice(text.length - Math.floor(room * 0.4));
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n') + 1;
  return `${head.slice(0, headEnd > 0 ? headEnd : undefined)}${CUT}${tail.slice(tailStart)}`.toWellFormed();
}

/** What kind of text it is: by its declared type if it has one, else by its look. */
export function judgeTextType(text: string, declared?: string): MediaType {
  const known = mediaByType(declared?.split(';')[0]?.trim().toLowerCase() ?? '');
  if (known?.kind === 'file' && known.extension !== 'txt') return known;
  return judgeMarkup(text) ?? mediaByExtension(looksLikeJson(text) ? 'json' : 'txt') ?? UNKNOWN;
}

function looksLikeJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
