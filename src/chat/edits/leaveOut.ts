import type { TextEdit } from '../../ports/document.ts';
import { type Chat, renderMarker, type Turn } from '../format/chat.ts';
import { findHidden } from '../format/comments.ts';
import { isEmptyTurn, parseChat, turnBody } from '../format/parse.ts';
import { insertLines } from '../format/textEdit.ts';
import { escapeReply } from '../reply/escapeReply.ts';

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
  return turn.role === 'system' && turn.markerText.split(/\s+/, 1)[0]?.toLowerCase() === SUMMARY;
}

/**
 * Puts a part of a turn into comments, so that it stays in the file but is not sent. Existing comments are kept.
 * Returns `undefined` if the text would end the comment.
 */
export function leaveOutRegion(
  text: string,
  turn: Turn,
  region: Pick<TextEdit, 'start' | 'end'>,
): TextEdit | undefined {
  const pieces: string[] = [];
  let from = region.start;
  const hide = (end: number): boolean => {
    const piece = text.slice(from, end);
    if (/<!--|-->/.test(piece)) return false;
    pieces.push(commentOut(piece));
    return true;
  };
  for (const comment of findHidden(turnBody(text, turn)).comments) {
    const start = turn.bodyStart + comment.start;
    const end = turn.bodyStart + comment.end;
    if (end <= region.start || start >= region.end) continue;
    if (start < from || end > region.end || !hide(start)) return undefined;
    pieces.push(text.slice(start, end));
    from = end;
  }
  if (!hide(region.end)) return undefined;
  const written = pieces.join('');
  return written === text.slice(region.start, region.end)
    ? undefined
    : { start: region.start, end: region.end, text: written };
}

/** Puts a whole turn into comments. Turns with calls are part of the history and must be sent. */
export function leaveOutTurn(text: string, turn: Turn): TextEdit | undefined {
  if (turn.calls.length > 0 || turn.cut || turn.role === 'tool') return undefined;
  return leaveOutRegion(text, turn, { start: turn.bodyStart, end: turn.end });
}

/** White space stays outside, so that the next turn still begins on its own line. */
function commentOut(piece: string): string {
  const words = piece.trim();
  if (words === '') return piece;
  const at = piece.indexOf(words);
  const isLong = words.includes('\n');
  const comment = isLong ? `<!--\n${words}\n-->` : `<!-- ${words} -->`;
  return `${piece.slice(0, at)}${comment}${piece.slice(at + words.length)}`;
}
