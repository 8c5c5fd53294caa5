import type { TextEdit } from '../../ports/document.ts';
import type { Chat, Turn } from '../format/chat.ts';
import { renderMarker } from '../format/marker.ts';
import { isEmptyTurn, parseChat } from '../format/parse.ts';
import { insertLines } from '../format/textEdit.ts';
import { escapeReply } from '../reply/escape.ts';

/** A `# %% system summary` turn replaces all turns above it in requests. */

const SUMMARY = 'summary';

/** Writes a summary after all turns, which stay in the file. Not possible if code is open. */
export function appendSummary(text: string, summary: string): TextEdit | undefined {
  const { turns, endsInFence } = parseChat(text);
  if (endsInFence) return undefined;
  const turn = `${renderMarker('system', SUMMARY)}\n${escapeReply(summary.trim())}\n`;
  // An empty user turn stays at the end.
  const last = turns.at(-1);
  const at = last?.role === 'user' && isEmptyTurn(text, last) ? last.start : text.length;
  return insertLines(text, at, turn);
}

/** The turns that are still sent: the last summary and the turns after it. */
export function sinceSummary(chat: Chat): { readonly summary?: Turn; readonly turns: readonly Turn[] } {
  const at = chat.turns.findLastIndex(isSummary);
  const summary = chat.turns[at];
  return summary ? { summary, turns: chat.turns.slice(at + 1) } : { turns: chat.turns };
}

export function isSummary(turn: Turn): boolean {
  return turn.role === 'system' && turn.words.split(/\s+/, 1)[0]?.toLowerCase() === SUMMARY;
}
