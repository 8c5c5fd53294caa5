import { foldLines } from '../../base/lines.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { t } from './words.ts';

const MAX_MESSAGE_CHARS = 300;
/** Of a text that may be megabytes long, only the beginning is read. White space in it is not shown. */
const READ_PER_SHOWN = 20;

/**
 * Makes untrusted text safe for a notification, a prompt or a list: one short line in which no `[x](command:…)` is a
 * link and no `$(x)` is an icon.
 */
export function plainMessage(text: string, maxChars = MAX_MESSAGE_CHARS): string {
  const start = text.slice(0, READ_PER_SHOWN * maxChars);
  const line = showInvisible(start.replace(/\s+/g, ' ').trim());
  const shown = truncate(start.length < text.length ? `${line}…` : line, maxChars);
  return shown.replaceAll('](', '] (').replaceAll('$(', '$ (');
}

export function truncate(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}

const MAX_QUOTED_LINES = 20;
const MARGIN = '│ ';

/**
 * Untrusted text for a dialog or details: a line in the margin tells it from ours, and it is never long enough to push
 * ours out of sight.
 */
export function quoteLines(text: string, maxChars: number): string {
  // One character more shows that it is cut.
  const start = text.slice(0, maxChars + 1);
  const { lines, more } = foldLines(truncate(showInvisible(start), maxChars), MAX_QUOTED_LINES);
  const rest = more > 0 ? [t('… and {0} more lines', more)] : [];
  return [...lines, ...rest].map((line) => `${MARGIN}${line}`).join('\n');
}

/** A Markdown link that runs a command. Escapes parentheses, which `encodeURIComponent` does not. */
export function commandLink(label: string, command: string, argument: object): string {
  const encoded = encodeURIComponent(JSON.stringify([argument]));
  return `[${label}](command:${command}?${encoded.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}

/** `12 s` or `1 min 05 s`. */
export function describeSeconds(seconds: number): string {
  if (seconds < 60) return t('{0} s', seconds);
  return t('{0} min {1} s', Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0'));
}
