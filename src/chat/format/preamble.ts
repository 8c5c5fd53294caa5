import { eachLine } from '../../base/lines.ts';

/** The lines `key=value` with which chats of chat.md may begin: `selectedConfig="name"`, `maxTokens=4000`, … */

export interface PreambleEntry {
  readonly key: string;
  readonly value: string;
  /** Where the key stands in the preamble. */
  readonly offset: number;
}

/** The keys that chat.md takes in a file; it refuses all others. */
const KEYS_OF_CHAT_MD = new Set(['selectedConfig', 'reasoningEffort', 'maxTokens', 'maxThinkingTokens']);
const ENTRY = /^([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(\S.*)$/;

/** Only entries, comments and blank lines, and one key at least that is chat.md's: else it is what a user wrote. */
export function isPreamble(text: string): boolean {
  // Long text is no preamble, and finding that out must not take long.
  if (!/^\s*(?:#|[A-Za-z_])/.test(text) || !text.includes('=')) return false;
  let known = false;
  for (const { text: line } of eachLine(text)) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const key = ENTRY.exec(trimmed)?.[1];
    if (key === undefined) return false;
    known ||= KEYS_OF_CHAT_MD.has(key);
  }
  return known;
}

export function readPreamble(text: string): readonly PreambleEntry[] {
  const entries: PreambleEntry[] = [];
  for (const line of eachLine(text)) {
    const trimmed = line.text.trim();
    const match = trimmed.startsWith('#') ? null : ENTRY.exec(trimmed);
    if (!match?.[1] || match[2] === undefined) continue;
    const offset = line.start + line.text.indexOf(match[1]);
    entries.push({ key: match[1], value: readPreambleValue(match[2]), offset });
  }
  return entries;
}

/** A value may be quoted; behind one that is not, `#` begins a comment. */
function readPreambleValue(written: string): string {
  const quote = written.charAt(0);
  if (quote !== '"' && quote !== "'") return written.replace(/#.*$/, '').trim();
  return written.length > 1 && written.endsWith(quote) ? written.slice(1, -1) : written;
}
