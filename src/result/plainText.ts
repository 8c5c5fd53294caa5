import {
  escapeMarkers,
  restoreInvisible,
  showInvisible,
  unescapeMarkers,
} from '../chat/format/escapeMarkers.ts';
import type { TextPart } from '../ports/results.ts';

/** Links that load nothing until they are clicked. */
const WEB_LINK = /(?<!!)\[[^[\]\n]*\]\((?:https?:\/\/|mailto:)[^\s()<>]*\)/g;
const OWN_LINES = /^ {0,3}>|```|~~~|\$\$|<[A-Za-z/!?]|!\[|\]\s*[([:]|\[Tool generated /m;
const BLANK_EDGE = /^[ \t]*(\n|$)|\n[ \t]*$/;
/** Markdown would join the lines of JSON. */
const LIKE_JSON = /^\s*(?:\{\s*["}]|\[\s*["{[\]\d])/;

/**
 * Whether text can be written as Markdown without a fence: it loads and hides nothing, leaves nothing open, and does not
 * look like a line of the format of results. A line break at its end is kept only if something follows.
 */
export function canBePlain({ text, source }: TextPart, isLast = true): boolean {
  const edges = isLast ? text : text.replace(/\n$/, '');
  if (source !== undefined || BLANK_EDGE.test(edges) || LIKE_JSON.test(text)) return false;
  return !text.includes('[Tool generated ') && !OWN_LINES.test(text.replace(WEB_LINK, ''));
}

/** Headings, items, tables and rules: the author means Markdown. */
const STRUCTURE =
  /^ {0,3}(?:#{1,6}[ \t]+(?!%%)\S|(?:[-*+]|\d{1,9}[.)])[ \t]+\S|=+[ \t]*$|-{2,}[ \t]*$|\|?[ \t]*:?-+:?[ \t]*\|[ \t:|-]*$)/m;
const INDENTED = /^[ \t]+\S/m;
/** Two or more spaces that do not follow the end of a sentence. */
const COLUMNS = /[^\s.!?:](?: {2}|\t)[ \t]*\S/;

/** Whether the lines of a text are aligned, which Markdown would not show. */
export function isAligned(text: string): boolean {
  if (!text.includes('\n') || STRUCTURE.test(text)) return false;
  return INDENTED.test(text) || text.split('\n').filter((line) => COLUMNS.test(line)).length > 1;
}

/** Writes text as Markdown. Lines of plain text end in two spaces, with which Markdown keeps them apart. */
export function renderPlain(text: string): string {
  return escapeMarkers(
    showInvisible(STRUCTURE.test(text) ? text : mapBrokenLines(text, (line) => `${line}  `)),
  );
}

/** The inverse of `renderPlain`. */
export function readPlain(written: string): string {
  const text = restoreInvisible(unescapeMarkers(written));
  return STRUCTURE.test(text) ? text : mapBrokenLines(text, (line) => line.replace(/ {2}$/, ''));
}

/** The lines with text that are followed by another line with text. */
function mapBrokenLines(text: string, change: (line: string) => string): string {
  const lines = text.split('\n');
  const hasText = (line: string | undefined) => line !== undefined && line.trim() !== '';
  return lines.map((line, at) => (hasText(line) && hasText(lines[at + 1]) ? change(line) : line)).join('\n');
}
